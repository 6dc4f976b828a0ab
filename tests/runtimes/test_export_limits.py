"""A limit that is broken, in words and as a number."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.export_limits import Excess, first_broken
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions


def test_an_excess_states_the_need_and_the_limit() -> None:
    found = Excess("steps of a threadblock", 96, 64)
    assert str(found) == "96 steps of a threadblock, and 64 are the most"
    assert found.share == 1.5


def test_the_first_limit_that_is_exceeded_is_returned() -> None:
    """A need that equals its limit is within it."""
    limits = [Excess("channels", 32, 32), Excess("steps", 65, 64), Excess("elements", 9, 8)]
    assert first_broken(limits) is limits[1]
    assert first_broken(limits[:1]) is None


@pytest.mark.parametrize("kind", [MscclOptions, MscclppOptions])
def test_options_of_both_runtimes_name_the_number_that_is_wrong(kind: type) -> None:
    with pytest.raises(InvalidParameterError, match="instances is 0; it must be 1 or more"):
        kind(instances=0)
    with pytest.raises(InvalidParameterError, match="max_bytes is -1; it must be 0 or more"):
        kind(max_bytes=-1)
    with pytest.raises(InvalidParameterError, match="max_bytes is 5, less than min_bytes, 6"):
        kind(min_bytes=6, max_bytes=5)
