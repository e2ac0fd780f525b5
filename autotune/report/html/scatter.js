// Two metrics, intervals, front and baseline marked.
const WIDE = 720, HIGH = 440, LEFT = 70, RIGHT = 24, TOP = 20, BOTTOM = 48;

function drawScatter(across, up, withTried, chosenId) {
  const known = data.points.filter((p) => p.values[across] && p.values[up] && (withTried || p.kind !== "tried"));
  const ends = (name) => known.flatMap((p) => (p.kind === "tried" ? [p.values[name].at] : [p.values[name].at, p.values[name].low, p.values[name].high]));
  const [xs, ys] = [ends(across), ends(up)];
  const chart = document.getElementById("scatter");
  chart.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  chart.replaceChildren();
  if (!known.length) return;
  const x = numberScale(padded(Math.min(...xs), Math.max(...xs)), LEFT, WIDE - RIGHT);
  const y = numberScale(padded(Math.min(...ys), Math.max(...ys)), HIGH - BOTTOM, TOP);
  chart.append(...grid(x, y), ...axisTitles(across, up));
  const order = { tried: 0, baseline: 1, front: 2 };
  known.sort((a, b) => order[a.kind] - order[b.kind]).forEach((p) => chart.append(pointMark(p, p.values[across], p.values[up], x, y)));
  if (chosenId) choose(chosenId);
}
function grid(x, y) {
  return [
    ...x.ticks.flatMap(([at, text]) => [svg("line", { x1: at, x2: at, y1: TOP, y2: HIGH - BOTTOM, class: "grid-line" }), svg("text", { x: at, y: HIGH - BOTTOM + 16, "text-anchor": "middle" }, text)]),
    ...y.ticks.flatMap(([at, text]) => [svg("line", { x1: LEFT, x2: WIDE - RIGHT, y1: at, y2: at, class: "grid-line" }), svg("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, text)]),
  ];
}
function axisTitles(across, up) {
  return [
    svg("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 10, "text-anchor": "middle", class: "title" }, `${metricTitle(across)} ${better(across, false)}`),
    svg("text", { transform: `translate(16 ${(TOP + HIGH - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, `${metricTitle(up)} ${data.metrics[up].goal === "max" ? "→" : "←"}`),
  ];
}
function pointMark(point, across, up, x, y) {
  const [cx, cy] = [x.at(across.at), y.at(up.at)];
  const shape = point.kind === "baseline"
    ? svg("path", { class: "mark", d: `M${cx},${cy - 8}L${cx + 8},${cy}L${cx},${cy + 8}L${cx - 8},${cy}Z` })
    : svg("circle", { class: "mark", cx, cy, r: point.kind === "front" ? 6 : 4 });
  const label = [point.id, ...point.names].join(", ");
  const group = svg("g", { class: `point ${point.kind}`, "data-point": point.id, tabindex: 0, role: "button", "aria-label": label },
    svg("title", {}, `${label}\n${across.text}\n${up.text}`));
  if (point.kind !== "tried") {
    group.append(
      svg("line", { class: "interval", x1: x.at(across.low), x2: x.at(across.high), y1: cy, y2: cy }),
      svg("line", { class: "interval", x1: cx, x2: cx, y1: y.at(up.low), y2: y.at(up.high) }));
  }
  group.append(shape);
  if (point.kind !== "tried") {
    const right = cx > WIDE * 0.75;
    group.append(svg("text", { class: "label", x: cx + (right ? -10 : 10), y: cy - 8, "text-anchor": right ? "end" : "start" }, label));
  }
  return clickable(group, () => choose(point.id));
}
