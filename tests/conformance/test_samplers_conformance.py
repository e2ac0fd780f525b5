from autotune.core.ports import Sampler
from autotune.runs.search_file import SearchFile
from autotune.searching import Plans
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.testing.sampler_suite import SamplerSuite


class TestOptunaSampler(SamplerSuite):
    def make(self, search: SearchFile) -> Sampler:
        plans = Plans(search.budget_s, phases=len(search.workload.phases))
        return OptunaSampler(search.space, search.context, plans, search.max_trials)
