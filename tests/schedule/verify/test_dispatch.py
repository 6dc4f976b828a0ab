"""verify accepts what is right, for the right reasons, and names the fault of what is not."""

from collections.abc import Callable

import pytest

from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verify.dispatch import verify
from tests.schedule.made.hand import FORESTS


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_correct_forest_is_proved_optimal(make: Callable[[], Forest]) -> None:
    """Each forest attains the bound of its cut, worked out in its docstring."""
    correct = make()
    verdict = verify(correct)
    assert verdict.optimal
    assert correct.optimum is not None
    assert verdict.time_s_per_gb == correct.optimum.time_s_per_gb
    assert verdict.congestion == correct.congestion
