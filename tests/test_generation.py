"""The whole pipeline: every forest verifies and takes exactly the time of the bound."""

import copy
import itertools
import json
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

import forestcoll
from benchmarks.topologies import dead_nics, jittered_nics, mixed_boxes, random_regular
from forestcoll import Forest, Options, cost, generate, read_schedule, verify, write_schedule
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.generation import (
    STAGES,
    generate_factored,
    generate_factored_timed,
    generate_multicast,
    generate_timed,
)
from forestcoll.topology import load_topology
from tests.command_line import assert_ctrl_c_stops
from tests.random_topologies import KINDS, random_topology, rounds
from tests.reference.cuts import enumerate_optimum
from tests.schedule.mutations_of.forests import FILE_MUTATIONS, MUTATIONS, OPTIMUM_MUTATIONS
from tests.strategies import topologies

CLUSTERS = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=4",
    "dgx_a100:boxes=2,ib_switches=2",
    "dgx_a100:boxes=3,nics=nodes",
    "dgx_a100:boxes=4,nics=nodes,ib_switches=2",
    "dgx_h100:boxes=2",
    "dgx_h100:boxes=4",
    "dgx_h100:boxes=4,fabric=(leaf-spine:leaves=2,spines=2,oversubscription=2)",
    "dgx_a100:boxes=4,fabric=(dragonfly:groups=2,routers=2)",
    "clos:pods=2,leaves=2,hosts=2,spines=2,cores=4",
    "dragonfly_plus:groups=3,leaves=2,spines=2,hosts=1",
    "hyperx:dims=3x3,hosts=1",
    "slim_fly:q=3,hosts=1",
    "dual_plane:leaves=2,hosts=3,spines=2",
    "hgx_a800:boxes=2",
    "hgx_h800:boxes=2",
    "mi300x:boxes=2,gpus_per_box=4",
    "h100_pcie:boxes=2",
    "aws_p4d:boxes=2,fabric=rails:spines=1",
    "gb200_nvl72:racks=2,gpus_per_rack=4",
    "tpu_v6e:dims=3x4",
    "trn2",
    "mi250:boxes=1",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    "mi250:boxes=4",
    "dgx1",
    "ndv2:chassis=2",
    "ndv2:chassis=2,between=direct",
    "ndv2:chassis=3",
    "dgx2:chassis=2",
    "mi250_teccl:chassis=2",
    "paper_example",
    "ring:nodes=7",
    "torus:dims=4x4",
    "torus:dims=2x3x3",
    "hypercube:dimension=4",
    "complete:nodes=9",
    "kautz:degree=2,length=2",
    "circulant:nodes=11",
    "circulant:nodes=8,offsets=1+4",
    "directed_circulant:degree=3",
    "bi_ring:degree=4,nodes=5",
    "hamming:dimensions=2,letters=3",
    "twisted_hypercube:dimension=3",
    "twisted_torus:dims=2x4",
    "distance_regular:graph=petersen-line-graph",
    "random_regular:nodes=12,degree=3",
    "double_binary_tree:nodes=12",
    "fat_tree:leaves=4,hosts=4,spines=2",
    "fat_tree:leaves=3,hosts=5,spines=3,oversubscription=2",
    "rail_optimized:boxes=4,gpus_per_box=4",
    "rail_optimized:boxes=3,gpus_per_box=4,spines=2",
    "docs/examples/directed.yaml",
    "docs/examples/heterogeneous.yaml",
    "docs/examples/single-switch.yaml",
    "docs/examples/three-tier.yaml",
]


THREADED = [
    partial(load_topology, "mi250:boxes=25"),
    partial(load_topology, "torus:dims=20x20"),
    partial(random_regular, 400, 4, 1),
    partial(dead_nics, 50, 9, 1),
    partial(jittered_nics, 50, 20, 25, 1),
]


def proves_optimal(topology):
    """Generate, verify independently, and compare the time with the bound exactly."""
    forest = generate(topology).schedule
    verdict = verify(forest)
    assert verdict.optimal
    assert cost(forest).time_s_per_gb == forest.optimum.inverse_rate / topology.num_compute
    return forest


@pytest.mark.parametrize("spec", CLUSTERS)
def test_forest_verifies_and_attains_the_bound(spec):
    """Time = (M/N) (1/x*) on every family, on files, through one to three tiers of switches."""
    proves_optimal(load_topology(spec))


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (partial(dead_nics, 16, 3, seed=1), 200),
        (partial(jittered_nics, 12, 15, 30, seed=1), 300),
        (partial(mixed_boxes, 20, 3, 1), 400),
    ],
)
def test_batches_stay_whole_between_unequal_boxes(make, most):
    """Where batches broke up, 128, 96 and 200 GPUs had 272, 430 and 890 distinct trees."""
    topology = make()
    assert topology.num_compute <= proves_optimal(topology).num_batches < most


@pytest.mark.first_rows(75)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(100))
def test_random_forests_attain_the_worst_of_all_cuts(kind, seed):
    """A seeded set of 300 small networks: the bound by enumeration, attained exactly."""
    topology = random_topology(seed, kind)
    forest = proves_optimal(topology)
    assert forest.time_s_per_gb * topology.num_compute == enumerate_optimum(topology)[0]


@settings(max_examples=rounds(300), deadline=None)
@given(topologies())
def test_networks_of_hypothesis_attain_the_worst_of_all_cuts(topology):
    """The same, shrinking."""
    forest = proves_optimal(topology)
    assert forest.time_s_per_gb * topology.num_compute == enumerate_optimum(topology)[0]


@pytest.mark.parametrize("make", THREADED)
def test_the_number_of_threads_changes_nothing(make):
    """Networks large enough to be shared out, with slack, tight and flat parts."""
    topology = make()
    one, *others = (generate(topology, threads=threads).schedule for threads in (1, 2, 3))
    for other in others:
        assert other.optimum.cut == one.optimum.cut
        for array in ("root", "multiplicity", "parent"):
            assert np.array_equal(getattr(other, array), getattr(one, array))
        assert np.array_equal(other.routes.hop, one.routes.hop)


@pytest.mark.parametrize("mutation", [*MUTATIONS, *OPTIMUM_MUTATIONS])
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=2"])
def test_verify_rejects_a_spoilt_forest(spec, mutation):
    """Each fault planted in a real forest is found and named."""
    spoil, message = (MUTATIONS | OPTIMUM_MUTATIONS)[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(spoil(generate(load_topology(spec)).schedule))


@pytest.mark.parametrize("mutation", FILE_MUTATIONS)
def test_reading_rejects_a_spoilt_file(mutation, tmp_path):
    """Faults that only a file can hold are found on the way in."""
    path = tmp_path / "schedule.json"
    write_schedule(generate(load_topology("dgx_a100:boxes=2")).schedule, path)
    spoil, message = FILE_MUTATIONS[mutation]
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    with pytest.raises(VerificationError, match=message):
        read_schedule(path)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=2", "ring:nodes=5"])
def test_a_file_holds_the_whole_proof(spec, tmp_path):
    """Written, read back and verified, nothing but the file needed; the same bytes each time."""
    path, again = tmp_path / "schedule.json", tmp_path / "again.json"
    write_schedule(generate(load_topology(spec)).schedule, path)
    write_schedule(generate(load_topology(spec)).schedule, again)
    assert verify(read_schedule(path)).optimal
    assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=2", "torus:dims=3x4"])
def test_same_input_same_arrays(spec):
    """Two runs, and a run on the links given in reverse order, make the same forest."""
    topology = load_topology(spec)
    shuffled = replace(topology, links=tuple(reversed(topology.links)))
    first = generate(topology).schedule
    for again in (generate(topology).schedule, generate(shuffled).schedule):
        for field in ("root", "multiplicity", "parent"):
            assert np.array_equal(getattr(first, field), getattr(again, field))
        assert first.routes.paths() == again.routes.paths()


def test_relabelling_and_scaling_leave_time_and_verdict():
    """Nodes in another order, bandwidths doubled: k stays, the time is that of the bound."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    forest = proves_optimal(topology)
    order = sorted(range(len(topology.nodes)), key=lambda i: i * 7 % len(topology.nodes))
    assert proves_optimal(topology.relabelled(order)).time_s_per_gb == forest.time_s_per_gb
    doubled = proves_optimal(topology.scaled("*", 2))
    assert (doubled.k, doubled.time_s_per_gb) == (forest.k, forest.time_s_per_gb / 2)


def test_multiplicities_beyond_32_bits_are_exact():
    """Bandwidths of 2^31 + 1 and 2^31 - 1 make trees by the billion, counted exactly."""
    topology = load_topology(f"ring:nodes=3,bandwidth={2**31 + 1}/{2**31 - 1}")
    assert proves_optimal(topology).k == 1
    wide = load_topology("complete:nodes=3")
    odd = replace(
        wide,
        links=tuple(
            replace(link, bandwidth_gb_s=Fraction(2**31 + link.tail * 2 + link.head))
            for link in wide.links
        ),
    )
    assert proves_optimal(odd).k > 2**31


def test_stages_are_reported_and_timed_in_order():
    """Progress names every stage from start to end; times come for each."""
    seen: list[tuple[str, int, int]] = []
    made = generate(
        load_topology("mi250:boxes=2"), progress=lambda *report: seen.append(report), routed=True
    )
    assert tuple(stage for stage, _ in itertools.groupby(seen, key=lambda r: r[0])) == STAGES
    assert all(0 <= done <= total for _, done, total in seen)
    assert tuple(made.seconds) == STAGES


def test_ctrl_c_stops_native_work():
    """SIGINT during a long packing ends the process as KeyboardInterrupt, not at its end."""
    code = (
        "import forestcoll; "
        "topology = forestcoll.load_topology('random_regular:nodes=6000,degree=4,seed=1'); "
        "print('started', flush=True); forestcoll.generate(topology)"
    )
    assert_ctrl_c_stops(code, 1.5)


def test_keywords_are_the_options_and_no_other_is_taken() -> None:
    """What was asked is in the result, as it was asked."""
    ring = load_topology("ring:nodes=3")
    asked = Options(collective="broadcast", root="gpu1", threads=1)
    for made in (
        generate(ring, asked),
        generate(ring, collective="broadcast", root="gpu1", threads=1),
        generate(ring, Options(collective="broadcast", threads=1), root="gpu1"),
    ):
        assert made.options == asked
        assert made.schedule == generate(ring, asked).schedule
    for option in ("kk", "cls", "asked"):
        with pytest.raises(TypeError, match=f"there is no option '{option}'; options are coll"):
            generate(ring, **{option: 1})


def test_equality_of_results_ignores_seconds() -> None:
    """The seconds of two runs differ."""
    ring = load_topology("ring:nodes=3")
    assert generate(ring) == generate(ring)
    assert generate(ring) != generate(ring, k=1)


def test_the_forest_attribute_is_for_forests_only() -> None:
    """An allreduce or a factored forest is none, and the message says where it is."""
    assert isinstance(generate("ring:nodes=3").forest, Forest)
    for options in (Options(collective="allreduce"), Options(factored=True)):
        with pytest.raises(UnsupportedError, match=r"is of type \w+, not Forest; use .schedule"):
            _ = generate("ring:nodes=3", options).forest


def test_requested_paths_are_a_timed_stage() -> None:
    """Else they are found when they are first looked at."""
    assert "routing" not in generate("ring:nodes=3").seconds
    assert list(generate("ring:nodes=3", routed=True).seconds)[-1] == "routing"


def test_names_of_earlier_versions_make_the_same_and_warn() -> None:
    """``generate_multicast`` gives schedule, seconds and saved traffic, which verify takes."""
    spec = "dgx_h100:boxes=1"
    with pytest.warns(DeprecationWarning, match="factored=True"):
        assert generate_factored(spec) == generate(spec, factored=True).schedule
    with pytest.warns(DeprecationWarning, match="routed=True"):
        forest, seconds = generate_timed(spec, threads=1)
    assert (forest, tuple(seconds)) == (generate(spec).schedule, STAGES)
    with pytest.warns(DeprecationWarning, match="factored=True, routed=True"):
        factored, seconds = generate_factored_timed(spec)
    assert (factored, tuple(seconds)) == (generate(spec, factored=True).schedule, STAGES)
    with pytest.warns(DeprecationWarning, match="multicast=True"):
        made = generate_multicast(spec, collective="allreduce")
    schedule, seconds, saved = made
    result = generate(spec, collective="allreduce", multicast=True)
    assert (schedule, seconds.keys()) == (result.schedule, result.seconds.keys())
    assert saved == result.saved
    assert forestcoll.verify(made) == forestcoll.verify(result) == verify(schedule)


def test_the_schedules_attributes_are_found_in_the_result_for_this_version() -> None:
    """As code of earlier versions has it, where generate returned the schedule; with a warning."""
    made = generate("ring:nodes=4")
    with pytest.warns(DeprecationWarning, match=r"take .schedule.algbw_gb_s, not .algbw_gb_s"):
        assert made.algbw_gb_s == made.schedule.algbw_gb_s
    for name in ("nonsense", "_private"):
        with pytest.raises(AttributeError, match=name):
            getattr(made, name)
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.copy(made) == made
