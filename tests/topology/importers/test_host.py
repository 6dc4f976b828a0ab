"""Sharing out of NICs among GPUs that are equally near."""

from fractions import Fraction

import pytest

from forestcoll.topology.importers.host import Nic, both_ways, islands, shared_out


def near(*gpus: str) -> Nic:
    return Nic("nic", Fraction(25), gpus)


@pytest.mark.parametrize(
    ("nics", "nodes"),
    [
        ([near("a", "b"), near("a", "b")], [("a",), ("b",)]),
        ([near("a", "b")] * 4, [("a",), ("a",), ("b",), ("b",)]),
        ([near("a", "b")] * 3, [("a", "b")] * 3),
        ([near("a", "b")], [("a", "b")]),
        ([near("a"), near("b", "c"), near("b", "c")], [("a",), ("b",), ("c",)]),
        ([near()], [()]),
        ([], []),
    ],
)
def test_each_gpu_gets_as_many_or_all_keep_all(
    nics: list[Nic], nodes: list[tuple[str, ...]]
) -> None:
    assert [nic.nodes for nic in shared_out(nics)] == nodes


def test_gpus_that_links_do_not_join_are_islands() -> None:
    links = [*both_ways("a", "b", Fraction(1)), *both_ways("c", "s", Fraction(1))]
    assert islands(["a", "b", "c", "d"], links) == ["a", "c", "d"]
    assert islands(["a", "b"], links) == ["a"]
