"""Simulator of one schedule, for any size of the data and any number of pipeline chunks.

Problem: the time at which the last byte arrives, if a schedule is executed for a size of data.
Input:   a program; a size; the model (:mod:`forestcoll.schedule.simulate.alpha_beta`).
Output:  the finish, in floating point; the use of the links over time.
Cost:    fair sharing: one event for each class of indistinguishable transfers and pipeline chunk,
         or a closed form if everything runs in rounds. First come, first served: one event for
         each transfer, pipeline chunk and link.
Source:  ours; weighted max-min fairness as of Bertsekas and Gallager, Data Networks, section 6.5.

The data is cut into equal pipeline chunks, each of which goes through the whole schedule. A
pipeline chunk of a transfer depends on the same pipeline chunk of the transfer's dependencies, and
follows the one before it. Pipeline chunks in flight at once share the links in proportion to their
sizes, and likewise the shared capacities of these links. So each has at least its rate in the
pipelined model. With c pipeline chunks over h hops and a window of 1 the time is at most
(h + c - 1) (alpha + T / c), where T is the time of :func:`forestcoll.schedule.cost`, and never less
than T.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import (
    CapacityOverflowError,
    InfeasibleError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.sizes import MOST_BYTES, size_text
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate.alpha_beta import AlphaBeta
from forestcoll.schedule.simulate.native_form import NativeForm, NativeSimulator
from forestcoll.schedule.simulate.transfer_times import Timeline, check_times
from forestcoll.topology.in_brief import InARow
from forestcoll.topology.numbers import Exact

__all__ = ["LinkUsage", "Simulation", "Simulator"]

Progress = Callable[[int, int], None]

_BYTES_PER_GB = 10**9
# A tick is a power of two, as a fraction of the whole time and of the busiest link's time. It is
# large enough that 64 bits count all ticks of a simulation.
_OF_ALL, _OF_FLOWING, _MOST_TICKS = -40, -24, 58
_MOST_PIPELINE_CHUNKS = 2**20
_MOST_BINS = 10**5

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinkUsage:
    """Utilisation of the links over time.

    Parameters
    ----------
    bin_s : float
        Length of a bin in seconds; the first bin begins with the simulation.
    share : float array, links x bins
        Used share of the bandwidth, in the order of the topology's links.
    """

    bin_s: float
    share: _Floats = field(repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Simulation(InARow):
    """The simulated time of a schedule.

    Parameters
    ----------
    size_bytes : int
        Size of the data, as nccl-tests define it.
    pipeline_chunks : int
        Number of pipeline chunks.
    time_s : float
        Seconds until the last byte arrives.
    closed : bool
        Whether the time comes from a closed form: everything runs in rounds.
    work : int
        Cost of the simulation: the lanes that its events visited; 0 for a closed form.
    by_plan : bool
        Whether the schedule keeps to its time plan, in one pipeline chunk.
    usage : LinkUsage, optional
    timeline : Timeline, optional
        If requested.
    """

    size_bytes: int
    pipeline_chunks: int
    time_s: float
    model: AlphaBeta
    closed: bool = False
    by_plan: bool = False
    work: int = field(default=0, repr=False, compare=False)
    usage: LinkUsage | None = field(default=None, repr=False, compare=False)
    timeline: Timeline | None = field(default=None, repr=False, compare=False)

    def in_a_row(self) -> dict[str, object]:
        """Return the size, the time and the rate."""
        return {
            "size": size_text(self.size_bytes),
            "time_us": self.time_s * 1e6,
            "algbw_gb_s": self.algbw_gb_s if self.time_s else None,
            "pipeline_chunks": self.pipeline_chunks,
        }

    @property
    def algbw_gb_s(self) -> float:
        """Algorithmic bandwidth in simulation: the size by the time, in GB/s.

        Raises UnsupportedError if nothing moves, as on a single GPU.
        """
        if not self.time_s:
            raise UnsupportedError("a schedule in which nothing moves takes no time")
        return self.size_bytes / _BYTES_PER_GB / self.time_s


@dataclass(frozen=True, slots=True)
class _Run:
    """What a simulation takes, in the form of the native code."""

    size_bytes: int
    chunks: int
    model: AlphaBeta
    native: NativeSimulator
    times: tuple[_Floats, _Floats]  # units a second and latencies, of every kind of link
    costs: tuple[int, _Floats, _Floats]  # the window, costs of a chunk and of a message
    by_class: bool


class Simulator:
    """Simulator of one schedule; work that all simulations share is done once.

    Parameters
    ----------
    program : Program
        Assumed to be right; :func:`forestcoll.schedule.verify` proves it of its schedule.

    Raises
    ------
    VerificationError
        If a path uses a link that the topology does not have.

    Examples
    --------
    >>> import forestcoll
    >>> from forestcoll.compilation import compile_program
    >>> ring = forestcoll.generate("ring:nodes=4,bandwidth=1").schedule
    >>> simulator = Simulator(compile_program(ring))
    >>> round(simulator.run(10**9, AlphaBeta(alpha_us=0), pipeline_chunks=1).time_s, 9)
    0.375
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._form = NativeForm(program)
        self._loads = self._form.loads()

    @property
    def streams(self) -> int:
        """Number of classes of transfers; each costs one event per pipeline chunk."""
        if not self._form.by_class:
            return self.program.num_transfers
        return int(self._form.native(adding=False).classes()[0].max(initial=-1)) + 1

    def pipelined_s(self, size_bytes: int) -> float:
        """Return the time of the busiest link for its whole load, without latency.

        A shared capacity counts as a link with the loads of all its links.
        """
        topology = self.program.topology
        rates = np.array([float(link.bandwidth_gb_s) for link in topology.links])
        busiest = float((self._loads / rates).max(initial=0.0)) if len(rates) else 0.0
        for places, limit in topology.shared_places:
            busiest = max(busiest, float(self._loads[list(places)].sum()) / float(limit))
        return busiest / self.program.chunks.whole * (size_bytes / _BYTES_PER_GB)

    def run(
        self,
        size_bytes: int,
        model: AlphaBeta | None = None,
        pipeline_chunks: int = 1,
        *,
        bins: int = 0,
        timeline: bool = False,
        events: bool = False,
        progress: Progress | None = None,
    ) -> Simulation:
        """Simulate the schedule.

        Parameters
        ----------
        model : AlphaBeta, optional
            With its defaults if not given.
        bins : int
            Largest number of time bins of the links' utilisation, up to 100,000; at least half as
            many result. None is kept if 0.
        timeline : bool
            Whether to keep the times of every pipeline chunk, of at most two million.
        events : bool
            Whether to simulate event by event even where there is a closed form.
        progress : callable, optional
            Called with (pipeline chunks of transfers that have arrived, all) now and then; may
            raise to stop the simulation.

        Raises
        ------
        InvalidParameterError
            If the size, the number of pipeline chunks or of bins is out of range, a timeline would
            be too long, or ``keep_clock`` is set and there is no clock for this size.
        CapacityOverflowError
            If times differ so much that 64-bit ticks cannot hold them.
        VerificationError
            If transfers wait for one another in a cycle.
        """
        model = AlphaBeta() if model is None else model
        self._check(size_bytes, model, pipeline_chunks, bins)
        if not self.program.num_transfers:
            return Simulation(size_bytes, pipeline_chunks, 0.0, model, closed=True)
        run = _Run(
            size_bytes,
            pipeline_chunks,
            model,
            self._form.native(
                adding=bool(model.gamma_s_per_gb), critical_path=model.has_priorities
            ),
            (self._rates(size_bytes, model), self._latencies(model)),
            (
                model.window_of(pipeline_chunks),
                self._costs(model.chunk_cost_us),
                self._costs(model.message_cost_us),
            ),
            by_class=model.is_fair and self._form.by_class,
        )
        row = None
        if timeline:
            row = run.native.classes()[0] if run.by_class else self._form.each_by_itself()
            check_times(row, pipeline_chunks)
        if model.is_fair and not (bins or timeline or events or model.keep_clock):
            rate, latency = run.times
            closed = run.native.in_rounds(
                rate, latency, pipeline_chunks, model.lockstep, *run.costs, run.by_class, progress
            )
            if closed is not None:
                return Simulation(size_bytes, pipeline_chunks, closed, model, closed=True)
        return self._by_events(run, bins, row, progress)

    def _by_events(
        self, run: _Run, bins: int, row: npt.NDArray[np.int32] | None, progress: Progress | None
    ) -> Simulation:
        """Simulate event by event, with the use of links in ``bins`` and the times of each row."""
        size_bytes, pipeline_chunks, model, native = (
            run.size_bytes,
            run.chunks,
            run.model,
            run.native,
        )
        tick = self._tick(size_bytes, model, pipeline_chunks)
        start = self._starts(tick) if model.keep_clock else np.zeros(0, dtype=np.int64)
        setting = (*run.times, start, pipeline_chunks, model.lockstep, tick, bins, *run.costs)
        timeline = row is not None
        try:
            if model.is_fair:
                found = native.fair_shares(*setting, timeline, run.by_class, progress)
            else:
                found = native.first_come(*setting, timeline, progress)
        except InfeasibleError as error:
            raise VerificationError(f"{error}; verify the schedule first") from None
        ticks, work, _, width, carried, moments = found
        usage = times = None
        if bins:
            if run.by_class:
                carried = carried[native.classes()[1]]
            usage = self._usage(carried, width, ticks, tick, run.times[0])
        if row is not None:
            times = Timeline(row, *moments.T.reshape(4, -1, pipeline_chunks) * tick)
        makespan = ticks * tick
        return Simulation(
            size_bytes, pipeline_chunks, makespan, model, work=work, usage=usage, timeline=times
        )

    def _check(self, size_bytes: int, model: AlphaBeta, pipeline_chunks: int, bins: int) -> None:
        for what, value, least, most in (
            ("the size of the data", size_bytes, 1, MOST_BYTES),
            ("the number of pipeline chunks", pipeline_chunks, 1, _MOST_PIPELINE_CHUNKS),
            ("the number of bins", bins, 0, _MOST_BINS),
        ):
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise InvalidParameterError(
                    f"{what} is {value!r}; it must be a whole number from {least} to {most}"
                )
        starts = self.program.starts
        if not model.keep_clock:
            return
        if starts is None:
            raise InvalidParameterError(
                f"a schedule by {self.program.method} has no clock to keep to; leave that out"
            )
        if pipeline_chunks != 1 or size_bytes != starts.size_bytes:
            raise InvalidParameterError(
                f"the clock of this schedule is for {starts.size_bytes} bytes in one pipeline "
                f"chunk; ask "
                f"for these, or do not keep to it"
            )

    def _rates(self, size_bytes: int, model: AlphaBeta) -> _Floats:
        """Return units per second of every kind of link, and of the adders."""
        whole = self.program.chunks.whole
        per_gb = Fraction(whole * _BYTES_PER_GB, size_bytes)
        gamma, share = model.gamma, Fraction(model.efficiency)
        rates = [bandwidth * share * per_gb for bandwidth in self._form.kinds.bandwidths_gb_s]
        return np.array([float(rate) for rate in [*rates, per_gb / (gamma or 1)]])

    def _latencies(self, model: AlphaBeta) -> _Floats:
        kinds, alpha = self._form.kinds, model.alpha
        pairs = zip(kinds.hops, kinds.latencies_us, strict=True)
        return np.array([float((hops * alpha + links) / 10**6) for hops, links in pairs])

    def _costs(self, cost_us: Exact) -> _Floats:
        """Return a cost by kind of path, in seconds; an empty array stands for none."""
        if not cost_us:
            return np.zeros(0)
        return np.array([float(hops * Fraction(cost_us) / 10**6) for hops in self._form.kinds.hops])

    def slowest_hop_s(self, model: AlphaBeta) -> float:
        """Return the largest latency of a transfer with all costs, in seconds."""
        waits = self._latencies(model)
        for cost_us in (model.chunk_cost_us, model.message_cost_us):
            if cost_us:
                waits = waits + self._costs(cost_us)
        return float(waits.max(initial=0.0))

    def _tick(self, size_bytes: int, model: AlphaBeta, pipeline_chunks: int) -> float:
        """Return a tick in seconds: a power of two far below any time that matters."""
        pipelined = self.pipelined_s(size_bytes) / float(Fraction(model.efficiency))
        adding = float(model.gamma) * size_bytes / 10**9
        scale = math.frexp(pipelined + adding + self.slowest_hop_s(model))[1]
        rounds = int(self.program.step.max(initial=0)) + 1 + pipeline_chunks
        fine = min(scale + _OF_ALL, math.frexp(pipelined)[1] + _OF_FLOWING)
        return math.ldexp(1.0, max(fine, scale + rounds.bit_length() - _MOST_TICKS))

    def _starts(self, tick: float) -> npt.NDArray[np.int64]:
        """Return the earliest start of each step, in ticks."""
        starts = self.program.starts
        if starts is None:
            return np.zeros(0, dtype=np.int64)
        times = np.unique(starts.tick).tolist()
        per_tick = starts.tick_us / 10**6 / Fraction(tick)
        found = [math.ceil(per_tick * time) for time in times]
        if max(found, default=0) >= 2**62:
            raise CapacityOverflowError(
                f"the clock of this schedule goes on for {float(starts.tick_us * times[-1]):.3g} "
                f"us, too long for its data; simulate without the clock"
            )
        return np.array(found, dtype=np.int64)

    def _usage(
        self, carried: _Floats, width: int, ticks: int, tick: float, rate: _Floats
    ) -> LinkUsage:
        links = self.program.topology.links
        used = -(-ticks // width)
        known = {bandwidth: i for i, bandwidth in enumerate(self._form.kinds.bandwidths_gb_s)}
        full = np.array([rate[known[link.bandwidth_gb_s]] for link in links]) * (width * tick)
        return LinkUsage(width * tick, carried[: len(links), :used] / full[:, None])
