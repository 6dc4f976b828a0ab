"""Programs as the native simulator takes them, and the classes that it finds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate, load_topology
from forestcoll.errors import VerificationError
from forestcoll.schedule import cost
from forestcoll.schedule.simulate.native_form import NativeForm
from tests.random_topologies import random_topology
from tests.schedule.literals import LITERALS
from tests.schedule.made.types import TYPES, schedule

SETTINGS = [(1, False), (4, False), (3, True)]


def _both_ways(form: NativeForm, pipeline_chunks: int, lockstep: bool) -> list[int]:
    """Ticks to the end, with classes and without."""
    kinds = form.kinds
    whole = form.program.chunks.whole
    rate = np.array([float(b) * 1e9 * whole / 1e6 for b in kinds.bandwidths_gb_s] + [1.0])
    latency = np.array([7e-6 * hops for hops in kinds.hops])
    no_starts, free = np.zeros(0, dtype=np.int64), np.zeros(0)
    setting = (rate, latency, no_starts, pipeline_chunks, lockstep, 2.0**-40, 0, 1, free, free)
    native = form.native(adding=False)
    return [native.fair_shares(*setting, False, by_class)[0] for by_class in (True, False)]


@pytest.mark.parametrize(("pipeline_chunks", "lockstep"), SETTINGS)
@pytest.mark.parametrize(
    "spec", ["dgx_a100:boxes=2", "torus:dims=3x3", "hypercube:dimension=3", "mi250:boxes=1"]
)
def test_classes_equal_their_transfers(spec: str, pipeline_chunks: int, lockstep: bool) -> None:
    """Up to a few ticks: sums of the same rates round differently."""
    for collective in ("allgather", "allreduce"):
        form = NativeForm(
            compile_program(generate(load_topology(spec), collective=collective).schedule)
        )
        one, other = _both_ways(form, pipeline_chunks, lockstep)
        assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_classes_of_random_networks_take_the_same(seed: int) -> None:
    form = NativeForm(
        compile_program(generate(random_topology(seed, "bidirectional"), k=1 + seed % 3).schedule)
    )
    one, other = _both_ways(form, *SETTINGS[seed % 3])
    assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize(
    ("spec", "classes"),
    [
        ("ring:nodes=16,bidirectional=false", 15),
        ("dgx_a100:boxes=16", 3),
        ("dgx_h100:boxes=16", 3),
    ],
)
def test_a_symmetric_schedule_has_few_classes(spec: str, classes: int) -> None:
    """That is what makes a thousand GPUs cheap; of a ring one for each distance from the root."""
    form = NativeForm(compile_program(generate(load_topology(spec)).schedule))
    of_transfer, of_link = form.native(adding=False).classes()
    assert len(np.unique(of_transfer)) == classes
    assert len(of_link) == len(form.program.topology.links) + form.program.topology.num_compute


def test_messages_are_simulated_one_by_one() -> None:
    made: Any = LITERALS["TACCL, contiguous"].make()
    form = NativeForm(compile_program(made))
    assert not form.by_class
    assert NativeForm(compile_program(generate(load_topology("ring:nodes=3")).schedule)).by_class


@pytest.mark.parametrize("name", TYPES)
def test_loads_are_those_of_the_schedule(name: str) -> None:
    made = schedule(name)
    program = compile_program(made)
    found = NativeForm(program).loads() / program.chunks.whole
    costs = cost(made)
    np.testing.assert_allclose(found, np.array(costs.loads) / costs.whole, rtol=1e-12)


def test_only_gpus_that_receive_sums_take_reduction_time() -> None:
    """A switch that reduces does so at the speed of its links."""
    topology = load_topology("dgx_h100:boxes=1,nvls=true")
    made = generate(topology, collective="reduce-scatter", multicast=True).schedule
    program = compile_program(made)
    adders = NativeForm(program)._adders()
    to_gpus = program.head < topology.num_compute
    np.testing.assert_array_equal(adders >= 0, program.reduce & to_gpus)
    assert not to_gpus.all()


def test_a_path_over_no_link_is_refused() -> None:
    program = compile_program(generate(load_topology("ring:nodes=5")).schedule)
    node = program.paths.node.copy()
    node[1] = (node[0] + 2) % 5
    broken = replace(program, paths=replace(program.paths, node=node))
    with pytest.raises(VerificationError, match="a link that the topology does not have"):
        NativeForm(broken)
