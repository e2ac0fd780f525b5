from __future__ import annotations

import pytest

from autotune.core.errors import UserError
from autotune.core.space import Omission, Parameter
from autotune.searching.space_file import base_of, narrow
from autotune.searching.workload_file import parse_workload, read_workload_file
from autotune.testing.fake_search import fake_space


def problem(function, *arguments):
    with pytest.raises(UserError) as caught:
        function(*arguments)
    assert len(str(caught.value).splitlines()) <= 2
    return str(caught.value)


def shrink(text, space=None):
    return narrow(space or fake_space(), text, "s.yaml")


def test_set_leaves_only_the_given_values():
    space = shrink("set: {precision: [fp32, fp16], threads: 2, batch: {low: 2, high: 8}}")
    assert space.parameter("precision").choices == ("fp32", "fp16")
    assert space.parameter("threads").choices == (2,)
    assert space.parameter("batch").choices == (2, 4, 8)


def test_drop_fixes_a_parameter_at_the_baselines_value():
    space = shrink("drop: [level, spinning, block]")
    assert space.parameter("level").choices == ("all",)
    assert space.parameter("spinning").choices == (True,)
    assert space.parameter("block").choices == (16,)
    assert space.size() == 4 * 2 * 6


def test_add_makes_a_conditional_parameter():
    space = shrink("add: {group: {choices: [32, 64], requires: {precision: [int8]}, affects: build}}")
    assert space.parameter("group").requires == {"precision": ("int8",)}
    assert space.fault(space.baseline) is None


def test_a_baseline_outside_is_kept_and_said():
    space = shrink("set: {precision: fp16}")
    assert space.baseline["precision"] == "fp32"
    assert "measured all the same" in space.omissions[-1].reason
    assert space.experts == ()


def test_a_range_is_narrowed_within_itself():
    wide = fake_space().model_copy(update={"parameters": (Parameter(name="share", low=0.0, high=0.9),)})
    assert shrink("set: {share: {low: 0.25, high: 0.5}}", wide).parameter("share").high == 0.5
    assert shrink("set: {share: [0.25, 0.5]}", wide).parameter("share").choices == (0.25, 0.5)
    assert "not within the space" in problem(shrink, "set: {share: {low: -1}}", wide)


def test_the_name_and_the_base_are_read():
    assert shrink("name: mine").name == "mine"
    assert base_of("base: onnx", "s.yaml") == "onnx"
    assert base_of("", "s.yaml") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sett: {}", "unknown key 'sett' (did you mean 'set'?)"),
        ("set: {precison: fp16}", "there is no parameter 'precison' (did you mean 'precision'?)"),
        ("set: {precision: int4}", "precision cannot be 'int4' here"),
        ("set: {threads: true}", "threads cannot be True here"),
        ("set: {threads: []}", "left without a value"),
        ("set: {batch: {low: 100}}", "left without a value"),
        ("set: {batch: {lo: 1}}", "unknown key 'lo'"),
        ("set: [1]", "expected names with values"),
        ("drop: [nothing]", "there is no parameter 'nothing'"),
        ("drop: {a: 1}", "drop is no list"),
        ("add: {threads: {choices: [1]}}", "is in the space already"),
        ("add: {x: {low: 1}}", "needs either choices or low and high"),
        ("add: {x: {choices: [1], requires: {nope: [1]}}}", "there is no parameter 'nope'"),
        ("base: [1]", "base is no name"),
        ("a: [", "no YAML at line 1"),
    ],
)
def test_a_mistake_is_named_with_its_place(text, words):
    message = problem(shrink, text)
    assert words in message
    assert message.startswith("s.yaml")


def test_an_omitted_value_is_refused_with_its_reason():
    omission = Omission(parameter="precision", values=("int4",), reason="no kernel for it here")
    space = fake_space().model_copy(update={"omissions": (omission,)})
    assert "no kernel for it here" in problem(shrink, "set: {precision: [int4]}", space)


def test_nothing_in_a_file_is_evaluated():
    assert "no YAML" in problem(shrink, "!!python/object/apply:os.system ['true']")


def test_a_workload_is_read_in_order(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("phases: [{scenario: offline}, {scenario: single_stream}]")
    workload = read_workload_file(file)
    assert workload.name == "mine"
    assert [phase.scenario for phase in workload.phases] == ["offline", "single_stream"]


def test_a_servers_load_is_read_whole(tmp_path):
    (tmp_path / "arrivals.csv").write_text("seconds,user\n10.0,a\n10.5,b\n12,a\n")
    file = tmp_path / "load.yaml"
    file.write_text(
        "phases: [{scenario: server, trace: arrivals.csv, duration: 1min, limits: [latency_p99<=50ms],"
        " priorities: [0.2, 0.8], queue_limit: 100}]"
    )
    [phase] = read_workload_file(file).phases
    assert phase.arrivals_s == (0.0, 0.5, 2.0)
    assert (phase.rate_per_s, phase.duration_s, phase.limits) == (None, 60.0, ("latency_p99<=50ms",))
    assert (phase.priorities, phase.queue_limit) == ((0.2, 0.8), 100)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("phases: [{scenario: server}]", "needs a load"),
        ("phases: [{scenario: server, rate: 0}]", "rate 0 is not above 0"),
        ("phases: [{scenario: server, rate: 20ms}]", "in s, but a value in 1/s"),
        ("phases: [{scenario: server, rate: 20/s, duration: soon}]", "'soon' is not a number"),
        ("phases: [{scenario: server, rate: 20/s, streams: 2}]", "streams means nothing to server"),
        ("phases: [{scenario: server, rate: 20/s, limits: [memory<=1GB]}]", "cannot be held to"),
        ("phases: [{scenario: server, rate: 20/s, priorities: [1, 0]}]", "are no shares"),
        ("phases: [{scenario: server, rate: 20/s, queue_limit: no}]", "is no number of requests"),
        ("phases: [{scenario: server, trace: [1, 0]}]", "do not ascend"),
        ("phases: [{scenario: server, trace: nowhere.csv}]", "nowhere.csv cannot be read"),
        ("phases: [{scenario: multi_stream, streams: 0}]", "is no number of clients"),
        ("phases: [{scenario: multi_stream}, {scenario: server, rate: 1}]", "measure the same metrics"),
        ("phases: [{scenario: oflline}]", "did you mean 'offline'?"),
        ("phases: []", "has no phases"),
        ("phase: []", "did you mean 'phases'?"),
        ("phases: [{scenario: offline, rate: 3}]", "rate means nothing to offline"),
        ("phases: [{scenario: offline, durations: 3}]", "did you mean 'duration'?"),
        ("phases: [{scenario: offline}, {scenario: offline}]", "occurs twice"),
        ("phases: [offline]", "expected names with values"),
        ("phases: [{scenario: offline, shapes: []}]", "shapes lists nothing"),
        ("phases: [{scenario: offline, shapes: [{dims: {}}]}]", "names no dimension"),
        ("phases: [{scenario: offline, shapes: [{dim: {seq: 1}}]}]", "did you mean 'dims'?"),
        ("phases: [{scenario: offline, shapes: [{dims: {seq: -1}}]}]", "seq=-1 is no size"),
        ("phases: [{scenario: offline, shapes: [{dims: {seq: 1}, weight: 0}]}]", "weight 0 is no share"),
        ("phases: [{scenario: offline, shapes: [{dims: {seq: 1}}, {dims: {seq: 1}}]}]", "a shape occurs twice"),
    ],
)
def test_a_workloads_mistake_is_named(text, words):
    assert words in problem(parse_workload, text, "w.yaml")


def test_shapes_are_read_with_their_weights():
    text = "phases: [{scenario: offline, shapes: [{dims: {seq: 128}, weight: 0.7}, {dims: {seq: 512}}]}]"
    [phase] = parse_workload(text, "w.yaml").phases
    assert [(shape.label, shape.weight) for shape in phase.shapes] == [("seq=128", 0.7), ("seq=512", 1.0)]


def test_a_missing_workload_file_is_a_persons_mistake(tmp_path):
    assert "cannot be read" in problem(read_workload_file, tmp_path / "none.yaml")
