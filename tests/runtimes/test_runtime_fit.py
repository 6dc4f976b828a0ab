"""What fits a runtime in the place of what does not."""

from dataclasses import replace

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import InvalidParameterError, RuntimeLimitError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions, executor_limits
from forestcoll.runtimes.runtime_fit import Fit, LimitExceeded, fitting
from forestcoll.schedule import verify
from tests.baselines.claims import make

MANY = generate("ring:nodes=4", k=8209).schedule
"""In a ring of links of 1 GB/s 3 shards enter a GPU over 2 links: the optimum is 8/3 GB/s with two
trees. 8209 trees, an odd number, are 4105 one way round and 4104 the other: 32836 chunks."""


def found(schedule: object, **asked: object) -> Fit:
    fit = fitting(schedule, asked.pop("options", MscclOptions()), **asked)  # type: ignore[arg-type]
    assert isinstance(fit, Fit)
    return fit


def test_the_smallest_k_is_the_first_that_fits() -> None:
    """One tree a GPU: two of 3 shards come over one of the links, so a whole takes 2/4 s a GB."""
    fit = found(MANY, fastest=False)
    assert (fit.k, fit.algbw_gb_s) == (1, generate("ring:nodes=4", k=1).schedule.algbw_gb_s)
    assert fit.in_words() == "k = 1 is the smallest that fits, with 2 GB/s instead of 2.66656"
    assert fit.lost == pytest.approx(1 - 2 * 6157 / 16418)
    equal = replace(fit, given_gb_s=fit.algbw_gb_s)
    assert equal.in_words() == "k = 1 is the smallest that fits, and as fast: 2 GB/s"


def test_the_fastest_is_looked_for_until_none_can_be_faster() -> None:
    """Two trees are the optimum, so a third is not tried; what fits is the same collective."""
    fit = found(MANY, fastest=True)
    assert (fit.k, fit.tried_k, fit.lost) == (2, 2, 0)
    assert verify(fit.schedule).optimal  # type: ignore[union-attr]
    assert fit.exported.text == export(compile_program(fit.schedule), MscclOptions()).text


@pytest.mark.parametrize(("collective", "root"), [("broadcast", 2), ("reduce", 1)])
def test_a_root_is_kept(collective: str, root: int) -> None:
    """Of 32769 chunks of one root; two trees from it are as fast as any."""
    schedule = generate("ring:nodes=4", collective=collective, root=root, k=32769).schedule
    fit = found(schedule, fastest=True)
    assert fit.schedule.collective == collective  # type: ignore[union-attr]
    assert fit.schedule.weights[root] == 1  # type: ignore[union-attr]
    assert fit.k == 2


def test_an_allreduce_is_one_of_two_forests() -> None:
    """Twice 3/4 of the data enter a GPU over 2 GB/s: 4/3 GB/s, which one tree a GPU reaches."""
    fit = found(generate("ring:nodes=4", collective="allreduce", k=8209).schedule, fastest=True)
    assert fit.schedule.collective == "allreduce"  # type: ignore[union-attr]
    assert (fit.k, float(fit.algbw_gb_s or 0)) == (1, 4 / 3)


def test_options_that_cost_nothing_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a ring of 4, on one channel, an instance has 3 threadblocks: 7 are enough for two."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 7)
    forest = generate("ring:nodes=4").schedule
    fit = found(forest, options=MscclOptions(instances=4), fastest=True)
    assert (fit.k, fit.changed, fit.schedule) == (None, "2 instances", forest)
    assert fit.in_words() == "it fits with 2 instances"
    assert fit.lost == 0


def test_a_file_for_other_calls_is_reported_but_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place no threadblock copies: 2 of 3 are left."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    forest = generate("ring:nodes=4", k=2).schedule
    assert found(forest, fastest=False).in_words() == "it fits with calls in place only"
    assert fitting(forest, MscclOptions(), fastest=True) == LimitExceeded((), 2, 2)


def test_failed_fits_report_the_variants_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    forest = generate("ring:nodes=4", k=3).schedule
    misfit = fitting(forest, MscclOptions(instances=2), fastest=True)
    assert misfit == LimitExceeded(("1 instance",), 3, 3)
    assert misfit.in_words() == "it does not fit with 1 instance; no forest of k = 1 to 3 fits"


def test_out_of_time_one_k_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """And whatever fits by then is taken."""
    fit = found(MANY, fastest=True, seconds=0)
    assert (fit.k, fit.tried_k) == (1, 1)
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    misfit = fitting(MANY, MscclOptions(), fastest=True, seconds=0)
    assert isinstance(misfit, LimitExceeded)
    assert misfit.in_words().endswith(
        "no forest of k = 1 fits, and no more of the 8209 were tried in the time"
    )


def test_schedules_without_k_vary_options_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps, and trees of baselines."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    for method, network in (("bruck", "ring:nodes=7"), ("ring", "ring:nodes=7")):
        schedule = make(method, "allgather", network)
        with pytest.raises(RuntimeLimitError):
            export(compile_program(schedule), MscclOptions())
        misfit = fitting(schedule, MscclOptions(), fastest=True)
        assert misfit == LimitExceeded((), None, None)
        assert misfit.in_words() == "its method has no smaller k to try"


def test_no_time_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="the time to find what fits is -1"):
        fitting(MANY, MscclOptions(), fastest=True, seconds=-1)
