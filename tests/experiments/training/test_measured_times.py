"""Fits of the cost model to measured times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.training.measured_times import Fit, Measured, fit, read_measured
from forestcoll.errors import InvalidParameterError

SIZES = (1024, 2**20, 2**30)
HEAD = "size_bytes,time_us,steps,share\n"


@settings(deadline=None)
@given(st.floats(0, 100), st.floats(0, 100), st.floats(1e-6, 1e-2))
def test_numbers_that_made_the_times_are_found(
    alpha: float, epsilon: float, per_byte: float
) -> None:
    measured = [
        Measured(size, epsilon + alpha * steps + per_byte * size * share, steps, share)
        for steps, share in ((8, 1.75), (12, 1.83), (22, 1.83))
        for size in SIZES
    ]
    found = fit(measured)
    assert max(map(abs, found.residuals)) < 1e-6
    assert found.distinguishable
    assert found.us_per_byte == pytest.approx(per_byte, rel=1e-5)
    assert found.predicted_us(2**24, 3, 1.5) == pytest.approx(
        epsilon + 3 * alpha + per_byte * 2**24 * 1.5, rel=1e-4, abs=1e-3
    )


def test_the_paper_s_numbers_come_out() -> None:
    """Appendix A.2: 13.33 us, 21.60 us and 1.018e-4 us a byte, of which B is 79 Gb/s."""
    measured = [
        Measured(size, 21.6 + 13.33 * steps + 1.018e-4 * size * 11 / 6, steps, 11 / 6)
        for steps in (4, 12, 22)
        for size in SIZES
    ]
    found = fit(measured)
    assert found.alpha_us == pytest.approx(13.33)
    assert found.epsilon_us == pytest.approx(21.6)
    assert found.bandwidth_gb_s * 8 == pytest.approx(78.6, abs=0.1)


def test_one_number_of_steps_does_not_separate_alpha_and_epsilon() -> None:
    found = fit([Measured(size, 50 + size * 1e-3, 10, 1) for size in SIZES])
    assert not found.distinguishable
    assert (found.alpha_us, found.epsilon_us) == (pytest.approx(5), 0)


def test_relative_errors_count_so_small_sizes_matter() -> None:
    """Absolute errors would give the gigabyte all the weight."""
    measured = [Measured(1024, 100, 5, 1), Measured(2**30, 1e6, 5, 1), Measured(2**30, 1.1e6, 5, 1)]
    assert abs(fit(measured).residuals[0]) < 0.01


def test_no_other_numbers_have_smaller_relative_errors() -> None:
    """Times that no alpha and B fit, from a microsecond to a second."""
    measured = tuple(
        Measured(size, time_us, 5, 1) for size, time_us in ((1024, 90), (2**20, 700), (2**30, 1e6))
    )
    found = fit(measured)
    least = sum(error**2 for error in found.residuals)
    assert least > 1e-3
    for alpha, per_byte in ((1.001, 1), (0.999, 1), (1, 1.001), (1, 0.999)):
        other = replace(
            found,
            alpha_us=found.alpha_us * alpha,
            us_per_byte=found.us_per_byte * per_byte,
        )
        assert sum(error**2 for error in other.residuals) > least


def test_residuals_are_shares_of_the_measured_times() -> None:
    measured = (Measured(1000, 40, 2, 1), Measured(1000, 10, 2, 1))
    found = Fit(5, 10, 0, measured, distinguishable=True)  # 20 us
    assert found.residuals == (-0.5, 1.0)


def test_nothing_is_negative() -> None:
    found = fit([Measured(1024, 500, 5, 1), Measured(2**20, 100, 5, 1)])
    assert min(found.alpha_us, found.epsilon_us, found.us_per_byte) >= 0
    assert found.bandwidth_gb_s > 0


def test_one_size_is_not_enough() -> None:
    with pytest.raises(InvalidParameterError, match="measurements of two sizes"):
        fit([Measured(1024, 10, 5, 1), Measured(1024, 11, 7, 1)])


def test_rows_are_read_with_their_own_or_the_given_schedule(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text(HEAD + "1024,20.5,8,11/6\n2048,21,,\n")
    assert read_measured(file, steps=4, share=1.5) == [
        Measured(1024, 20.5, 8, 11 / 6),
        Measured(2048, 21, 4, 1.5),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column 'size_bytes'"),
        ("size_bytes\n1\n", "has no column 'time_us'"),
        (HEAD, "has no measurements"),
        (HEAD + "1024,20,,1\n", "line 2: has no steps; add the column, or give --steps"),
        (HEAD + "1024,20,1,\n", "line 2: has no share"),
        (HEAD + "0,20,1,1\n", "line 2: size_bytes is '0'"),
        (HEAD + "1024,fast,1,1\n", "line 2: time_us is 'fast'"),
        (HEAD + "1024,1,1/0,1\n", "line 2: steps is '1/0'"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "times.csv"
    file.write_text(text)
    with pytest.raises(InvalidParameterError, match=message):
        read_measured(file)
