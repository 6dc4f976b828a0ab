"""The settings of the simulator that explain measured curves best.

Problem: least squares of log(simulated / measured) over the fitted curves. Other curves are held
         back, and show what the settings are worth.
Input:   measurements, and the names of curves that are held back.
Output:  settings; the residual of every measurement.
Cost:    a non-linear least-squares problem for each window and size of chunks, each with some
         hundred simulations of every fitted measurement; a time limit ends the search between two.
Source:  ours. Parameters are fitted on a logarithmic scale from two starts (trust region
         reflective). One that explains next to nothing is dropped, so that few are left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from experiments.simulation_fit.curves import simulators
from experiments.simulation_fit.measurements import Curve, Measurement, curves_of, named
from experiments.simulation_fit.settings import (
    CHUNK_SIZES,
    PARAMETERS,
    WINDOWS,
    Settings,
    Window,
)
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import Simulator

__all__ = ["Residual", "SimulationFit", "fit_simulation", "residuals_of"]

Progress = Callable[[int, int], None]

_STARTS = (1.0, 0.3)  # times the start of each parameter
_MOST_STEPS = 30
_DIFFERENCE = 2e-3  # of the shifted logarithms, which are from 1 to 20
_SHIFT = 16.0
# A parameter is dropped if the error without it is at most this multiple of that with it, or below
# a tenth of a per cent.
_NEXT_TO_NOTHING, _NOISE = 1.05, 1e-3
_COSTS = ("message_cost_us", "chunk_cost_us")
_DROPPED = (*_COSTS, "gamma_s_per_gb", "constant_us", "loss", "alpha_us")
_REDUCING = ("reduce", "reduce-scatter", "allreduce")


@dataclass(frozen=True, slots=True)
class Residual:
    """A measured and a simulated time."""

    measured: Measurement
    simulated_s: float
    held_back: bool

    @property
    def log_ratio(self) -> float:
        """Logarithm of the simulated time over the measured one."""
        return math.log(self.simulated_s / self.measured.time_s)

    @property
    def error(self) -> float:
        """Simulated over measured algbw, less one."""
        return self.measured.time_s / self.simulated_s - 1


@dataclass(frozen=True, slots=True)
class SimulationFit:
    """Fitted settings with all residuals.

    Parameters
    ----------
    settings : Settings
    residuals : tuple of Residual
        In the order of the measurements.
    tried : int
        Pairs of a window and a size of chunks that were fitted, of ``all``.
    """

    settings: Settings
    residuals: tuple[Residual, ...]
    tried: int
    all: int

    def error(self, *, held_back: bool) -> float | None:
        """Return the root mean square of the log ratios; None if there are no such curves."""
        logs = [one.log_ratio for one in self.residuals if one.held_back is held_back]
        return math.sqrt(sum(log * log for log in logs) / len(logs)) if logs else None


def fit_simulation(
    measured: Sequence[Measurement],
    hold_out: Sequence[str] = (),
    *,
    windows: Sequence[Window] = WINDOWS,
    chunk_sizes: Sequence[int | None] = CHUNK_SIZES,
    seconds: float = math.inf,
    progress: Progress = lambda done, total: None,
    known: Mapping[Curve, Simulator] | None = None,
) -> SimulationFit:
    """Fit the settings to curves, and check them on curves that are held back.

    Parameters
    ----------
    hold_out : sequence of str
        Shell patterns of held back curves, as ``allreduce/*`` or ``*/taccl``.
    seconds : float
        Time limit; the first window and size of chunks are fitted in any case.
    progress : callable
        Called with (fitted pairs of a window and a size of chunks, all).
    known : mapping, optional
        Simulators of the curves, if there are any already.

    Raises
    ------
    InvalidParameterError
        If no curve is left to fit, or a pattern names none.
    """
    curves = curves_of(measured)
    for pattern in hold_out:
        if not any(named(curve, [pattern]) for curve in curves):
            names = ", ".join(dict.fromkeys(curve.name for curve in curves))
            raise InvalidParameterError(f"no curve is named {pattern!r}; the curves are {names}")
    fitted = [one for one in measured if not named(one.curve, hold_out)]
    if len(fitted) < 2:
        raise InvalidParameterError(
            "two measurements at least are needed to fit; hold out fewer curves"
        )
    problem = _Problem(fitted, simulators(curves) if known is None else known)
    pairs = list(product(windows, chunk_sizes))
    began, best, tried = time.monotonic(), None, 0
    for window, chunk_bytes in pairs:
        if tried and time.monotonic() - began > seconds:
            break
        found = problem.best(window, chunk_bytes)
        best = found if best is None or found[0] < best[0] else best
        tried += 1
        progress(tried, len(pairs))
    assert best is not None  # there is a pair
    settings = problem.without_idle(*best)
    residuals = residuals_of(settings, measured, hold_out, problem.simulators)
    return SimulationFit(settings, residuals, tried, len(pairs))


def residuals_of(
    settings: Settings,
    measured: Sequence[Measurement],
    hold_out: Sequence[str],
    known: Mapping[Curve, Simulator],
) -> tuple[Residual, ...]:
    """Simulate every measurement."""
    return tuple(
        Residual(
            one,
            settings.time_s(known[one.curve], one.size_bytes),
            named(one.curve, hold_out),
        )
        for one in measured
    )


class _Problem:
    """The least-squares problem of the fitted measurements."""

    def __init__(
        self, fitted: Sequence[Measurement], simulators: Mapping[Curve, Simulator]
    ) -> None:
        self.simulators = simulators
        self._fitted = fitted
        reduces = any(one.curve.collective in _REDUCING for one in fitted)
        self._free = tuple(name for name in PARAMETERS if reduces or name != "gamma_s_per_gb")

    def best(self, window: Window, chunk_bytes: int | None) -> tuple[float, Settings]:
        """Return the fit of all parameters, or that without costs if it is as good.

        Costs and alpha act much alike, so a fit of all of them may end off the best values.
        """
        few = [name for name in self._free if name not in _COSTS]
        simple = self.fitted(few, window, chunk_bytes)
        every = self.fitted(self._free, window, chunk_bytes)
        return simple if simple[0] <= max(_NEXT_TO_NOTHING * every[0], _NOISE) else every

    def fitted(
        self, free: Sequence[str], window: Window, chunk_bytes: int | None
    ) -> tuple[float, Settings]:
        """Return the error of the best values of these parameters, and the settings."""
        from scipy.optimize import least_squares  # half a second

        ranges = [PARAMETERS[name] for name in free]
        low = [_SHIFT + math.log(one.least) for one in ranges]
        high = [_SHIFT + math.log(one.most) for one in ranges]

        def settings_at(x: npt.NDArray[np.float64]) -> Settings:
            values = np.exp(x - _SHIFT).tolist()
            return Settings(dict(zip(free, values, strict=True)), window, chunk_bytes)

        best: tuple[float, Settings] | None = None
        for times in _STARTS:
            start = [_SHIFT + math.log(one.start * times) for one in ranges]
            found = least_squares(
                lambda x: self._logs(settings_at(x)),
                start,
                bounds=(low, high),
                diff_step=_DIFFERENCE,
                max_nfev=_MOST_STEPS,
            )
            error = float(np.sqrt(np.mean(found.fun**2)))
            if best is None or error < best[0]:
                best = error, settings_at(found.x)
        assert best is not None  # there are starts
        return best

    def without_idle(self, error: float, settings: Settings) -> Settings:
        """Drop parameters that explain next to nothing, one after the other."""
        free = list(settings.values)
        for name in _DROPPED:
            if name not in free or len(free) == 1:
                continue
            less = [one for one in free if one != name]
            without, found = self.fitted(less, settings.window, settings.chunk_bytes)
            if without <= max(_NEXT_TO_NOTHING * error, _NOISE):
                free, settings = less, found
        return settings

    def _logs(self, settings: Settings) -> npt.NDArray[np.float64]:
        found = residuals_of(settings, self._fitted, (), self.simulators)
        return np.array([one.log_ratio for one in found])
