"""All-to-alls and demands in a search."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.advice.tuning import tune
from experiments.advice.tuning.exchanges import NAMES, exchange_bound, exchanges
from experiments.advice.tuning.records import Folder
from forestcoll.errors import InvalidParameterError, TimeLimitError, UnknownMethodError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import cost, read_schedule, verify
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import load_topology
from tests.command_line import document, invoke

PAIR = "dgx_a100:boxes=2"
UNEVEN = Demand.of_matrix([[0, 30, 10], [5, 0, 0], [0, 20, 0]], "uneven")
LINE = load_topology("torus:dims=3,wrap=false")


def names(*given: Any) -> list[str]:
    return [one.name for one in exchanges(*given)]


def test_our_paths_and_the_baselines_for_any_amounts_are_tried() -> None:
    """Matchings with a latency each are for demands, and for latencies above 0."""
    model = AlphaBeta()
    assert names(None, UNEVEN, model) == list(NAMES)
    assert names(None, None, model) == list(NAMES)[:-1]
    assert names(None, UNEVEN, AlphaBeta(alpha_us=0)) == list(NAMES)[:-1]
    (few,) = (one for one in exchanges(["fast-reading"], UNEVEN, model) if "few" in one.name)
    assert (dict(few.parameters), few.demand) == ({"alpha_us": 10}, UNEVEN)
    assert names(["teccl"], UNEVEN, model) == ["teccl"]
    with pytest.raises(UnknownMethodError, match="no method 'gossip'"):
        exchanges(["gossip"], None, model)


def test_by_hand_a_demand_on_a_line() -> None:
    """Over the link 1 -> 0 run 5 bytes, over 0 -> 1 40, 1 -> 2 10 and 2 -> 1 20; 1 GB/s each.

    The farthest pair with data is two hops apart: 20 us with alpha 10.
    """
    found = tune(LINE, demand=UNEVEN, methods=["forestcoll", "direct"])
    assert found.collective == "all-to-all"
    assert [at.size_bytes for at in found.sizes] == [65]
    assert found.bounds.rate is not None
    assert found.bounds.rate.algbw_gb_s == Fraction(65, 40)
    assert found.bounds.latency_s == pytest.approx(20e-6)
    for one in found.candidates:
        if one.schedule is not None:
            verify(one.schedule)
            assert cost(one.schedule).algbw_gb_s <= Fraction(65, 40)
    nearby = Demand.of_matrix([[0, 7, 0], [0, 0, 7], [0, 0, 0]])
    assert tune(LINE, demand=nearby, methods=["direct"]).bounds.latency_s == pytest.approx(10e-6)


def test_the_best_paths_win_for_large_skewed_amounts(tmp_path: Path) -> None:
    asked = ["--demand", "zipf:size=1MB,exponent=2,seed=1", "--sizes", "64KB,256MB"]
    asked += ["--method", "forestcoll", "--method", "direct"]
    text = document("tune", PAIR, *asked, "-o", tmp_path)
    assert text["demand"] == asked[1]
    first, last = text["sizes"][0], text["sizes"][-1]
    assert last["best"] == "best paths" != first["best"]
    assert 0.8 < last["share_of_the_bound"] <= 1
    kept = json.loads((tmp_path / "index.json").read_text())
    assert (tmp_path / "best-paths.npz").exists()
    assert kept["demand_bytes"] == verify_demand(tmp_path / "best-paths.npz")
    Folder(tmp_path)  # an index of ours may be replaced


def verify_demand(path: Path) -> int:
    schedule = read_schedule(path)
    assert verify(schedule).optimal
    return schedule.demand.bytes  # type: ignore[union-attr]


def test_equal_parts_are_bounded_by_prices_of_links() -> None:
    """8 of 16 parts of each of 8 GPUs leave a box by 200 GB/s: 50 GB/s for a GPU's data."""
    found = tune(PAIR, "all-to-all", ["64MB"], methods=["forestcoll", "direct", "bruck"])
    assert found.bounds.rate is not None
    assert found.bounds.rate.algbw_gb_s == 50
    by_name = {one.name: one for one in found.candidates}
    assert by_name["best paths"].schedule is not None
    assert by_name["direct"].note == "the same as best paths"
    shown = invoke("tune", PAIR, "--collective", "all-to-all", "--sizes", "1MB").stdout
    assert shown.startswith(f"{PAIR}, all-to-all of 16 GPUs\n")


def test_chunks_for_several_gpus_have_a_bound_and_direct_sends() -> None:
    """10 bytes of GPU 0 for both others cross the first link once at least, twice one by one."""
    demand = Demand.of_chunks(3, [(0, 10, [1, 2])], "copies")
    found = tune(LINE, demand=demand, methods=["forestcoll", "direct"])
    assert found.bounds.rate is not None
    assert found.bounds.rate.algbw_gb_s == 1
    assert "several GPUs need" in found.candidate("best paths").note
    assert found.sizes[0].best.name.startswith("direct")


def test_without_prices_in_time_there_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise TimeLimitError("too late")

    monkeypatch.setattr("forestcoll.all_to_all.multicast_bounds.demand_bounds", late)
    assert exchange_bound(LINE, UNEVEN, []) is None


def test_demands_of_other_networks_and_collectives_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="uneven is of 3 GPUs; ring:nodes=4 has 4"):
        tune("ring:nodes=4", demand=UNEVEN)
    with pytest.raises(InvalidParameterError, match="for all-to-alls, not allreduce"):
        tune(LINE, "allreduce", demand=UNEVEN)
    refused = invoke("tune", "ring:nodes=4", "--demand", "gather", "--collective", "broadcast")
    assert (refused.exit_code, "leave --collective broadcast away" in refused.stderr) == (2, True)


def test_amounts_of_a_demand_grow_in_proportion() -> None:
    """Twice the bytes take twice the time at the bound, and a schedule without latencies too."""
    model = AlphaBeta(alpha_us=0)
    found = tune(LINE, sizes=[65, 130], demand=UNEVEN, methods=["direct"], model=model)
    one, two = found.sizes
    assert two.bound_s == pytest.approx(2 * one.bound_s)
    assert np.isclose(two.time_s, 2 * one.time_s)
