"""The settings of least error: those that made the measurements, if any did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.simulation_fit.fitting import Residual, fit_simulation
from experiments.simulation_fit.measurements import Measurement
from experiments.simulation_fit.settings import Settings
from forestcoll.errors import InvalidParameterError
from tests.experiments.simulation_fit.made import CURVES, measured_with


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    return measured_with()


@pytest.mark.slow
def test_the_settings_behind_measurements_are_found(measured: list[Measurement]) -> None:
    """Alpha 8 us, 30 us a run, 80 % of the bandwidth; costs that are not there are dropped."""
    seen: list[tuple[int, int]] = []
    found = fit_simulation(
        measured,
        ["reduce-scatter/*"],
        windows=[1, 4],
        chunk_sizes=[2**16],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 2), (2, 2)]
    assert found.settings.values["alpha_us"] == pytest.approx(8, rel=0.02)
    assert found.settings.values["constant_us"] == pytest.approx(30, rel=0.05)
    assert found.settings.values["loss"] == pytest.approx(0.2, rel=0.05)
    assert {*found.settings.values} <= {"alpha_us", "constant_us", "loss"}
    for held_back in (False, True):
        error = found.error(held_back=held_back)
        assert error is not None
        assert error < 0.01
    assert [one.held_back for one in found.residuals] == [False] * 8 + [True] * 4


@pytest.mark.slow
def test_a_held_back_curve_has_no_say(measured: list[Measurement]) -> None:
    """Its times may be ten times as long: the settings are the same, its error is not."""
    wrong = [
        replace(one, time_s=10 * one.time_s) if one.curve == CURVES[2] else one for one in measured
    ]
    fits = [
        fit_simulation(given, ["reduce-scatter/*"], windows=[1], chunk_sizes=[2**16])
        for given in (measured, wrong)
    ]
    assert fits[0].settings == fits[1].settings
    assert (fits[1].error(held_back=True) or 0) > 2


@pytest.mark.slow
def test_additions_are_fitted_only_where_something_is_added() -> None:
    """Gamma 0.2 s/GB of a reduce-scatter beside allgathers; without one it cannot be known."""
    true = Settings({"alpha_us": 8.0, "gamma_s_per_gb": 0.2})
    measured = measured_with(true)
    reduced = fit_simulation(measured, windows=[1], chunk_sizes=[2**30])
    assert reduced.settings.values["gamma_s_per_gb"] == pytest.approx(0.2, rel=0.1)
    gathered = fit_simulation(measured, ["reduce-scatter/*"], windows=[1], chunk_sizes=[2**30])
    assert "gamma_s_per_gb" not in gathered.settings.values


def test_the_time_limit_leaves_pairs_untried(measured: list[Measurement]) -> None:
    found = fit_simulation(measured[:4], windows=[1, 2], chunk_sizes=[2**20, 2**22], seconds=0)
    assert (found.tried, found.all) == (1, 4)
    assert found.error(held_back=True) is None


def test_errors_are_of_the_measured_rate() -> None:
    """Half the measured time is twice the rate."""
    one = Residual(Measurement(CURVES[0], 1000, 2.0), 1.0, held_back=False)
    assert one.error == 1
    assert one.log_ratio == pytest.approx(-0.6931, abs=1e-4)


@pytest.mark.parametrize(
    ("hold_out", "message"),
    [
        (["allgater/*"], r"no curve is named 'allgater/\*'; the curves are allgather/ring"),
        (["*"], "two measurements at least are needed to fit"),
    ],
)
def test_there_must_be_something_to_fit(
    measured: list[Measurement], hold_out: list[str], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        fit_simulation(measured, hold_out)
