"""A limit that is broken, in words and as a number."""

from forestcoll.runtimes.excess import Excess


def test_an_excess_says_what_is_needed_and_what_there_is() -> None:
    found = Excess("steps of a threadblock", 96, 64)
    assert str(found) == "96 steps of a threadblock, and 64 are the most"
    assert found.share == 1.5
