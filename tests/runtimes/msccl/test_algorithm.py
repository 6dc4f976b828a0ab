"""What an algorithm of MSCCL is."""

from dataclasses import replace

from forestcoll.runtimes.msccl import ALIASES, COLLECTIVES, parse_algorithm
from tests.runtimes.msccl_programs import ring_allgather


def test_other_spellings_are_of_collectives_that_there_are() -> None:
    assert set(ALIASES.values()) <= set(COLLECTIVES)
    assert not set(ALIASES) & set(COLLECTIVES)


def test_line_numbers_do_not_affect_equality() -> None:
    """A comment shifts all lines; another channel is another algorithm."""
    text = ring_allgather(3)
    one = parse_algorithm(text).algorithm
    other = parse_algorithm("<!-- one\ntwo -->" + text).algorithm
    assert one == other
    lines = [found.gpus[1].threadblocks[0].line for found in (one, other)]
    assert lines[1] == lines[0] + 1
    assert replace(one, channels=2) != one
