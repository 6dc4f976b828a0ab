"""What a simulation may assume."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import AlphaBeta, Sharing


def test_numbers_are_exact_however_they_are_written() -> None:
    """As bandwidths are; the defaults are of one kind."""
    model = AlphaBeta(alpha_us="2.5", gamma_s_per_gb=Fraction(1, 3), sharing="fifo")  # type: ignore[arg-type]
    assert (model.alpha_us, model.gamma_s_per_gb) == (Fraction(5, 2), Fraction(1, 3))
    assert model.sharing is Sharing.FIFO
    assert AlphaBeta(alpha_us=10) == AlphaBeta()
    assert AlphaBeta(alpha_us=0.1).alpha_us == Fraction(1, 10)  # type: ignore[arg-type]


def test_microseconds_may_have_a_unit() -> None:
    model = AlphaBeta(alpha_us="800 ns", chunk_cost_us="2us", message_cost_us="0.001 ms")
    costs = (model.alpha_us, model.chunk_cost_us, model.message_cost_us)
    assert costs == (Fraction(4, 5), 2, 1)


def test_no_window_is_larger_than_the_number_of_chunks() -> None:
    """Unlimited is as many as there are."""
    assert [AlphaBeta(window=window).window_of(4) for window in (1, 3, 9)] == [1, 3, 4]
    assert AlphaBeta(window="unlimited").window_of(4) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha_us": -1}, r"alpha is -1 us; it must be from 0 to 1000000000 us"),
        ({"alpha_us": 10**10}, r"alpha is 10000000000 us; it must be from 0"),
        ({"alpha_us": "-1ms"}, r"alpha is -1ms; it must be from 0"),
        ({"alpha_us": "fast"}, r"^alpha is 'fast', which is not a number"),
        ({"alpha_us": "5 h"}, r"^alpha is '5 h', whose unit 'h' is not known"),
        ({"gamma_s_per_gb": "1us"}, r"^gamma is '1us', which is not a number"),
        ({"alpha_us": True}, r"alpha"),
        ({"alpha_us": 0.1 + 0.2}, r"alpha"),
        ({"gamma_s_per_gb": "-0.5"}, r"gamma is -0.5 s/GB; it must be from 0"),
        ({"sharing": "lifo"}, r"sharing is 'lifo'; it must be one of fair, fifo"),
        ({"chunk_cost_us": -1}, r"chunk cost is -1 us; it must be from 0"),
        ({"message_cost_us": "x"}, r"message cost"),
        ({"efficiency": 0}, r"efficiency is 0; it must be a share above 0, at most 1"),
        ({"efficiency": "1.1"}, r"efficiency is 1.1; it must be a share above 0, at most 1"),
        ({"efficiency": "most"}, r"efficiency"),
        ({"window": 0}, r"window is 0; it must be a whole number from 1 to 1048576, or unlimited"),
        ({"window": True}, r"window is True; it must be a whole number"),
        ({"window": "all"}, r"window is 'all'; it must be a whole number"),
        ({"window": 2**20 + 1}, r"window is 1048577; it must be a whole number"),
        ({"priority": "last"}, r"priority is 'last'; it must be one of equal, critical-path"),
        ({"priority": "critical-path", "sharing": "fifo"}, r"priorities are for fair sharing"),
        ({"lockstep": True, "keep_clock": True}, r"keeps to steps or to its clock; choose one"),
    ],
)
def test_impossible_parameters_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        AlphaBeta(**given)  # type: ignore[arg-type]
