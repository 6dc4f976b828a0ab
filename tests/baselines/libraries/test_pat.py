"""PAT's steps and the data of each step."""

import numpy as np
import pytest

from baselines.libraries.pat import generate
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize("nodes", [2, 3, 5, 8, 11])
def test_steps_are_log2_for_any_number_of_gpus(nodes: int) -> None:
    """Logarithmic, for any number of ranks, as the paper states."""
    topology = load_topology(f"complete:nodes={nodes}")
    for collective in ("allgather", "reduce-scatter"):
        assert verify(generate(topology, collective)).steps == (nodes - 1).bit_length()


def test_the_farthest_partner_gets_the_least() -> None:
    """8 GPUs: distances 4, 2, 1 with 1, 2 and 4 shards; Bruck has 1, 2, 4 with 1, 2 and 4."""
    sends = generate(load_topology("complete:nodes=8")).sends
    distance = (sends.head - sends.tail) % 8
    assert [np.unique(distance[sends.step == step]).tolist() for step in range(3)] == [
        [4],
        [2],
        [1],
    ]
    assert np.bincount(sends.step).tolist() == [8, 16, 32]


def test_it_becomes_an_algorithm_of_msccl() -> None:
    found = export(compile_program(generate(load_topology("complete:nodes=5"))), MscclOptions())
    assert 'ngpus="5"' in found.text


def test_it_has_no_allreduce() -> None:
    with pytest.raises(UnsupportedError, match="pat has no allreduce"):
        generate(load_topology("complete:nodes=4"), "allreduce")
