"""How calls are cut, by hand from the sizes of FIFOs."""

import pytest

from forestcoll.runtimes.msccl import PROTOCOLS, parse_algorithm
from forestcoll.runtimes.msccl.interpreter.call_sizes import FIFO_DEPTH, SLOT_BYTES, cuts_of
from tests.runtimes.msccl_programs import Block, xml


def cuts(count: int = 1, collective: str = "allreduce", **more: object) -> list[tuple[int, int]]:
    gpus = [[Block().step("cpy", "i0", "o0", count)]]
    text = xml(collective, gpus, 100, (100, 100, 0), **more)
    return [(cut.at_once, cut.slices) for cut in cuts_of(parse_algorithm(text).algorithm)]


def test_every_protocol_has_its_fifo() -> None:
    assert set(FIFO_DEPTH) == set(SLOT_BYTES) == set(PROTOCOLS)


def test_without_a_limit_chunks_are_cut_into_slices() -> None:
    """As large as one likes; the smallest call differs only if a step has several chunks."""
    assert cuts() == [(1, 2)]
    assert cuts(3) == [(1, 2), (71, 1)]


@pytest.mark.parametrize(
    ("protocol", "most", "expected"),
    [
        ("LL", 100 * 32768, [(1, 1), (71, 1)]),
        ("LL", 100 * 32768 + 1, [(1, 2), (71, 1)]),
        ("LL", 100 * 16384, [(2, 1), (71, 1)]),
        ("LL128", 100 * 576_000, [(1, 1), (71, 1)]),
        ("Simple", 100 * (2**21 // 3), [(3, 1), (71, 1)]),
        ("Simple", 1, [(71, 1)]),
    ],
)
def test_a_slot_holds_so_many_chunks(
    protocol: str, most: int, expected: list[tuple[int, int]]
) -> None:
    """32 KiB of LL, 576000 bytes of LL128, 2 MiB of Simple; a hundred chunks a call."""
    assert cuts(71, proto=protocol, maxBytes=most) == expected


def test_the_smallest_call_is_bounded_by_its_least_size() -> None:
    """A chunk of at least 8 KiB: four at once, of LL."""
    assert cuts(71, proto="LL", minBytes=100 * 8192) == [(1, 2), (4, 1)]


def test_broadcasts_send_fewer_at_once() -> None:
    """The runtime counts one of four steps of Simple for them: 512 KiB."""
    size = 100 * 2**19
    assert cuts(71, "broadcast", maxBytes=size) == [(1, 1), (71, 1)]
    assert cuts(71, "allreduce", maxBytes=size) == [(4, 1), (71, 1)]
