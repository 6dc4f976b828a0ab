"""Examples that the papers work out by hand or prove, and that no experiment shows."""

import math
from fractions import Fraction

import pytest

from baselines.registry import METHODS
from forestcoll import generate, load_topology
from forestcoll.compilation import compile_program
from forestcoll.core import paper
from forestcoll.schedule import cost, synchronous, verify
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from tests.reference import optimality


def test_steps_do_not_reach_the_bound_of_the_running_example() -> None:
    """ForestColl appendix D, on its figure 5: four shards over 4 b; b = 1, so 1/8 s for 1 GB.

    In steps every method takes longer. What flows in pieces is above the bound with any number of
    them, and as near to it as one likes.
    """
    topology = load_topology("paper_example")
    bound = Fraction(1, 8)
    best = generate(topology).schedule
    assert cost(best).time_s_per_gb == bound
    for name in ("ring", "multitree", "recursive-halving-doubling", "bruck", "direct"):
        schedule = METHODS[name].run(topology)
        verify(schedule)
        assert synchronous(schedule).time_s_per_gb > bound, name
    assert synchronous(best).time_s_per_gb > bound
    simulator, model = Simulator(compile_program(best)), AlphaBeta(alpha_us=0)
    times = [simulator.run(10**9, model, pipeline_chunks=n).time_s for n in (1, 4, 16, 64, 256)]
    assert all(time > bound for time in times)
    assert times == sorted(times, reverse=True)
    assert times[-1] == pytest.approx(float(bound), rel=0.01)


@pytest.mark.parametrize("spec", ["paper_example", "dgx_a100:boxes=2", "mi250:boxes=1"])
def test_the_search_takes_no_more_probes_than_appendix_f_allows(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Algorithm 1 as written: at most log2(N B^2), B the least bandwidth into a GPU, in units.

    One probe more finds the cut. The paper's algorithms in C++ foresee no more either.
    """
    topology, probes, totals = load_topology(spec), [], []
    capacity = topology.integer_capacities
    into = [0] * len(topology.nodes)
    for head, amount in zip(capacity.head.tolist(), capacity.capacity.tolist(), strict=True):
        into[head] += amount
    least = min(into[gpu] for gpu in topology.compute)
    allowed = math.ceil(math.log2(topology.num_compute * least**2))
    probe = optimality.starved_cut
    monkeypatch.setattr(optimality, "starved_cut", lambda *of: probes.append(of) or probe(*of))
    found = optimality.optimum_reference(topology)
    assert 1 < len(probes) <= allowed + 1
    ours = paper.optimum(topology, progress=lambda done, total: totals.append(total))
    assert max(totals) <= allowed
    assert ours.inverse_rate == found.inverse_rate
