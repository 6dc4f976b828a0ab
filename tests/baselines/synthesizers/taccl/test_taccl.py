"""TACCL as a method: the reference results of its public code, and what it refuses."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from baselines.interface.search import Search
from baselines.interface.supported import GATHERING
from baselines.synthesizers.taccl.taccl import generate
from forestcoll import load_topology
from forestcoll.errors import InfeasibleError, InvalidParameterError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import Topology
from forestcoll.topology.files import read_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of

NVLINK = "nvlink_bandwidth=1000/46,nvlink_latency=0"

NICS = "nic_bandwidth=1000/105,nic_latency=13/5"

REFERENCE = [
    # Chunks of 1 MB; the routing objective, the finish that HiGHS reached on the public code.
    (f"dgx1:{NVLINK}", "dgx1", 1, Fraction(69), 69),
    (f"ndv2:chassis=2,{NVLINK},{NICS},between=direct", "ndv2", 1, Fraction(856), 945),
    (
        "dgx2:chassis=1,nvswitch_bandwidth=125,nvswitch_latency=0",
        "dgx2",
        1,
        Fraction(12016, 100),
        120,
    ),
    (
        f"dgx2:chassis=2,nvswitch_bandwidth=125,nvswitch_latency=0,{NICS}",
        "dgx2",
        2,
        Fraction(49616, 100),
        Fraction(5638, 10),
    ),
]
"""Of one DGX-1 the best of both, 69, which only Gurobi's routes reached there (HiGHS: 92)."""


def found(topology: Topology | str, **asked):
    """The schedule, and the last report of each stage."""
    reported: dict[str, Search] = {}

    def report(search: Search) -> None:
        reported[search.stage.split()[0]] = search

    network = load_topology(topology) if isinstance(topology, str) else topology
    schedule = generate(network, asked.pop("collective", "allgather"), report=report, **asked)
    verify(schedule)
    return schedule, reported


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("spec", "sketch", "chunks", "objective", "finish"),
    [*REFERENCE[:-1], pytest.param(*REFERENCE[-1], marks=pytest.mark.slow)],
)
def test_the_public_code_s_results(
    spec: str, sketch: str, chunks: int, objective: Fraction, finish: Fraction
) -> None:
    size = load_topology(spec).num_compute * chunks * 10**6
    optima = 4 if sketch == "dgx1" else 0
    asked = {"sketch": sketch, "chunks": chunks, "size_bytes": size, "whole_us": True}
    gap = 0.0 if finish != REFERENCE[-1][-1] else 1e-3  # the proof of the last takes a minute
    schedule, reported = found(spec, optima=optima, gap=gap, **asked)
    routing = reported["routing"]
    if gap:
        assert routing.bound == pytest.approx(float(objective), rel=1e-9)
        assert routing.incumbent == pytest.approx(float(objective), rel=gap)
    else:
        assert routing.status == "optimal"
        assert routing.incumbent == pytest.approx(float(objective), rel=1e-9)
    assert schedule.clock.finish_us <= finish


@pytest.mark.slow
def test_exactly_the_remote_links_take_their_latency_besides() -> None:
    """8 chunks of 107.6 us over the one link between two chassis, where the public code has 107."""
    spec = f"ndv2:chassis=2,{NVLINK},{NICS},between=direct"
    _, reported = found(spec, sketch="ndv2", size_bytes=16 * 10**6, optima=0)
    assert reported["routing"].incumbent == pytest.approx(860.8)


@pytest.mark.slow
def test_taccl_s_own_files_give_its_results(tmp_path: Path) -> None:
    """A topology file of TACCL's with the number of boxes, and a sketch file in JSON."""
    network = tmp_path / "topo-ndv2-1MB.json"
    network.write_text(
        '{"name": "NDv2_1MB", "nnodes": 2, "gpus_per_node": 8, "nics_per_node": 1, "alpha": 0.3, '
        '"node_betas_list": [23, 46], "node_invbws_list": [23, 46], "remote_invbw": 107, '
        '"remote_alpha": 2.6, "remote_beta": 105}'
    )
    sketch = tmp_path / "sk1-ndv2-n2.json"
    sketch.write_text(
        '{"nnodes": 2, "intranode_sketch": {"strategy": "none"}, "internode_sketch": {"strategy": '
        '"relay", "internode_conn": {"0": [1]}}, "symmetry_offsets": [[8, 16]], "hyperparameters": '
        '{"input_chunkup": 1}}'
    )
    asked = {"sketch": str(sketch), "size_bytes": 16 * 10**6, "whole_us": True, "optima": 0}
    _, reported = found(read_topology(network), **asked)
    assert reported["routing"].incumbent == pytest.approx(856)


@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        *product(["ndv2:chassis=2", "dgx2:chassis=1,nvswitch_latency=1/2"], GATHERING[1:]),
        *product(["torus:dims=2x3", "dgx_a100:boxes=2"], [*GATHERING[1:], "all-to-all"]),
    ],
)
@pytest.mark.each_value_once
def test_other_collectives_verify(spec: str, collective: str) -> None:
    asked = {"optima": 0, "gap": 0.5, "order": "by-network"}
    schedule, reported = found(spec, collective=collective, size_bytes=10**6, **asked)
    assert schedule.collective == collective
    assert reported["finish"].incumbent > 0


def test_reductions_use_the_reversed_sketch() -> None:
    """Turned round, GPU 1 of a chassis sends and GPU 0 receives: no other link crosses."""
    schedule, _ = found(
        "ndv2:chassis=2", collective="reduce-scatter", sketch="ndv2", optima=0, gap=0.5
    )
    crossing = {
        (int(tail) % 8, int(head) % 8)
        for tail, head in zip(schedule.sends.tail, schedule.sends.head, strict=True)
        if tail // 8 != head // 8
    }
    assert crossing == {(0, 1)}


def test_the_same_question_has_the_same_answer() -> None:
    asked = {"optima": 2, "chunks": 2}
    first, _ = found("paper_example", **asked)
    assert found("paper_example", **asked)[0] == first


@pytest.mark.slow
def test_limits_are_kept() -> None:
    schedule, reported = found("mi250:boxes=1", limits=Limits(seconds=1.5), gap=0.0)
    assert reported["finish"].incumbent == float(schedule.clock.finish_us)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"size_bytes": 0}, "size_bytes is 0; it must be 1 or more"),
        ({"chunks": -1}, "chunks is -1; it must be 0 or more"),
        ({"optima": -1}, "optima is -1; it must be 0 or more"),
        ({"gap": 1.0}, "gap is 1.0; it must be 0 or more, and below 1"),
        ({"order": "first"}, "order"),
        ({"solver": "cplex"}, "solver"),
        ({"sketch": "dgx3"}, "did you mean dgx"),
        ({"sketch": "ndv2"}, "nnodes is 2 or 3 or 4, but dgx_a100:boxes=1 has 1"),
    ],
)
def test_parameters_out_of_range_are_refused(asked: dict, text: str) -> None:
    with pytest.raises(InvalidParameterError, match=text):
        generate(load_topology("dgx_a100:boxes=1"), **asked)


def test_other_collectives_and_single_gpus_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="taccl has no broadcast"):
        generate(load_topology("dgx_a100:boxes=1"), "broadcast")
    with pytest.raises(UnsupportedError, match="has 1 GPUs"):
        generate(network_of("gpu0", "", "alone"))


def pairs(local: int = 20, remote: int = 4) -> Topology:
    """Two boxes of two GPUs; GPU 1 of each sends to GPU 0 of the other."""
    inside = f"b0.g0 - b0.g1: {local}, b1.g0 - b1.g1: {local}"
    across = f"b0.g1 > b1.g0: {remote}, b1.g1 > b0.g0: {remote}"
    return network_of("b0.g0@0.0 b0.g1@0.1 b1.g0@1.0 b1.g1@1.1", f"{inside}, {across}", "pairs")


def test_a_sender_s_own_chunk_first_is_part_of_the_time(tmp_path: Path) -> None:
    """What routes take is what the program says, so that further routings of that time exist."""
    sketch = tmp_path / "own.yaml"
    sketch.write_text(
        "nnodes: 2\nintranode_sketch: {strategy: none}\ninternode_sketch: {strategy: relay, "
        'internode_conn: {"1": [0]}, gpus_to_sender_rev_map: {"1": [0, 1]}, enforce_ordering: '
        "true}\nsymmetry_offsets: []\nhyperparameters: {input_chunkup: 1}"
    )
    _, reported = found(pairs(), sketch=str(sketch), size_bytes=4000, gap=0.0)
    routing = reported["routing"]
    assert routing.incumbent == pytest.approx(routing.bound) == pytest.approx(0.55)


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("latency", "size_bytes"),
    [
        ("1/10", 1),
        *(
            pytest.param("1/10", size, marks=pytest.mark.slow)
            for size in (10**7 + 19, 10**15, 10**18 + 9)
        ),
        ("1/7919", 10**30 + 57),
        ("1000000000", 1),
    ],
)
def test_any_size_has_a_schedule(latency: str, size_bytes: int) -> None:
    """Latencies of a tenth of a microsecond beside transfers of up to days, or far beyond."""
    spec = f"ndv2:chassis=2,between=direct,nvlink_latency=0,nic_latency={latency}"
    schedule, _ = found(spec, sketch="ndv2", size_bytes=size_bytes, optima=0, gap=0.05)
    assert schedule.clock.size_bytes == size_bytes


def test_speeds_without_a_common_tick_are_rounded_by_little() -> None:
    primes = (7919, 7927, 9973, 10007, 10009, 10037)
    links = [f"gpu{i} - gpu{(i + 1) % 6}: {p}/100 1/{p}" for i, p in enumerate(primes)]
    net = network_of("gpu0..5", ", ".join(links), "odd")
    schedule, reported = found(net, size_bytes=10**9, optima=0)
    assert float(schedule.clock.finish_us) == reported["finish"].incumbent


def test_links_of_very_different_costs_make_no_circles() -> None:
    """A millisecond from box to box, picoseconds inside: beyond a solver's precision."""
    spec = "ndv2:chassis=2,between=direct,nvlink_latency=0,nic_latency=1000"
    asked = {"optima": 1, "gap": 0.01, "order": "by-network"}
    schedule, _ = found(spec, sketch="ndv2", size_bytes=1, **asked)
    assert 1000 < schedule.clock.finish_us < 3000


def test_sketches_of_unequal_boxes_use_their_common_links() -> None:
    """GPUs of the second box are joined by its switch, and one link of it is dead."""
    for dead in ("b1.gpu2 - b1.nvswitch", "b0.gpu2 - b0.nvswitch", "b1.gpu0 - ib"):
        topology = without("dgx_a100:boxes=2", dead)
        found(topology, optima=0, gap=0.5, order="by-network", limits=Limits(seconds=20))


def test_pairs_of_an_all_to_all_go_by_their_senders(tmp_path: Path) -> None:
    """GPU 0 has links to the other box, but its chunks are taken out by GPU 1: one hop more."""
    sketch = tmp_path / "by-one.yaml"
    sketch.write_text(
        "nnodes: 2\nintranode_sketch: {strategy: switch, switches: [[0, 1, 2, 3]], "
        "switch_hyperedge_strategy: [uc-min]}\ninternode_sketch: {strategy: relay, internode_conn: "
        'fully-connected, gpus_to_sender_rev_map: {"1": [0, 1, 2, 3]}}\nsymmetry_offsets: []\n'
        "hyperparameters: {input_chunkup: 1}"
    )
    schedule, _ = found(
        "paper_example", collective="all-to-all", sketch=str(sketch), optima=0, gap=0.5
    )
    crossing = {
        int(tail) % 4
        for tail, head in zip(schedule.sends.tail, schedule.sends.head, strict=True)
        if tail // 4 != head // 4
    }
    assert crossing == {1}


def test_more_chunks_than_fit_are_unsupported_at_once() -> None:
    with pytest.raises(UnsupportedError, match="are more than taccl writes programs for"):
        generate(load_topology("dgx_a100:boxes=1"), chunks=10**17)


@pytest.mark.parametrize("collective", [*GATHERING, "all-to-all"])
def test_a_sketch_that_leaves_a_gpu_out_is_reported(collective: str, tmp_path: Path) -> None:
    """Of GPUs on a switch, with no links but those between the boxes, of one GPU each."""
    for number, (boxes, remote) in enumerate(
        [(1, ""), (2, 'internode_sketch: {strategy: relay, internode_conn: {"0": [0]}}\n')]
    ):
        sketch = tmp_path / f"{number}.yaml"
        sketch.write_text(
            f"nnodes: {boxes}\nintranode_sketch: {{strategy: none}}\n{remote}"
            "symmetry_offsets: []\nhyperparameters: {input_chunkup: 1}\n"
        )
        topology = load_topology(f"dgx_a100:boxes={boxes}")
        with pytest.raises(InfeasibleError, match=f"^{sketch}: no link of the sketch leads into"):
            generate(topology, collective, sketch=str(sketch))
