"""Several collectives at once on one network: TE-CCL's tenants, with priorities.

Problem: the fewest epochs for the tenants of the highest priority; among all schedules with these,
         the fewest for the next priority; and so on.
Output:  a step schedule for each, all on one clock; together they load no link beyond its
         bandwidth.
Cost:    for each priority a search with the chunks of this and all higher ones.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1: demands add up, with buffers and counts for
         each tenant, and priorities as weights of the objective. Weights that are far enough apart
         amount to one priority after another. The paper's slots are for each tenant; here they are
         shared.

All chunks have one size, as in the paper. A tenant takes part with all GPUs, with those of its
group, or with those that its demand names; all GPUs of the network forward.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from baselines.interface.supported import check_supported
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import Demand, chunk_bytes_of, demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.horizon import Found, fewest_epochs, without_repeats
from baselines.synthesizers.teccl.splitting import Stage, split
from baselines.synthesizers.teccl.task import Task
from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.problem.demand import Demand as GivenDemand
from forestcoll.problem.demand_files import demand_in
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import rank_of_root
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.groups import group
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["Shared", "Tenant", "check_together", "share"]

_COLLECTIVES = ("allgather", "broadcast", "all-to-all")


@dataclass(frozen=True, slots=True)
class Tenant:
    """One collective among several.

    Parameters
    ----------
    collective : str
        "allgather", "broadcast" or "all-to-all"; of no effect with a demand.
    size_bytes, chunks : int
        M and C, as for :func:`baselines.synthesizers.teccl.teccl.generate`, of the group's GPUs. A
        demand has its own bytes.
    root : str or int
        Name or rank of a GPU, for a broadcast.
    priority : int
        Higher priorities come first.
    group : tuple of str
        Names of the GPUs that take part; all if empty. The schedule then has a demand.
    demand : Demand or str, optional
        In place of a collective: who needs which chunk, as for ``generate``.
    """

    name: str
    collective: str = "allgather"
    size_bytes: int = 10**9
    chunks: int = 1
    root: str | int = 0
    priority: int = 0
    group: tuple[str, ...] = ()
    demand: GivenDemand | str | None = None


@dataclass(frozen=True)
class Shared:
    """Results of all tenants, by name.

    Parameters
    ----------
    schedules : mapping of StepSchedule
        On one clock.
    epochs : mapping of int
        Epochs by which the tenants of its priority are done.
    bounds : mapping of int
        Proved lower bound on these, given the schedules of higher priorities.
    """

    schedules: Mapping[str, StepSchedule] = field(repr=False)
    epochs: Mapping[str, int]
    bounds: Mapping[str, int]


def share(
    topology: Topology,
    tenants: Sequence[Tenant],
    *,
    epoch: str = "fastest",
    crossing: str = "through",
    switches: str = "nodes",
    buffer: int = 0,
    buffering: str = "passing",
    slow: str = "",
    solver: str = "cp-sat",
    chunk_bytes: int = 0,
    limits: Limits | None = None,
) -> Shared:
    """Find schedules for all tenants at once; parameters as of ``generate``.

    ``chunk_bytes`` is that of demands. If not given, it is that of the tenants without one; where
    all have a demand, the largest chunk of all, by its tenant's ``chunks``. Slots are for the
    chunks of all tenants together. Each priority gets an equal share of the remaining time.

    Raises
    ------
    InvalidParameterError
        If there are no tenants or two of one name, their chunks differ in size, a group's data do
        not divide into whole bytes, or a parameter is out of its range.
    UnsupportedError
        If a tenant asks for a reduction, or as for ``generate``.
    DisconnectedError
        If no path leads from a GPU to another.
    TimeLimitError
        If time is up before every tenant has a schedule.

    Examples
    --------
    >>> from forestcoll import load_topology
    >>> tenants = [Tenant("train", priority=1), Tenant("serve", "broadcast", 500_000_000, 2)]
    >>> share(load_topology("ring:nodes=4"), tenants).epochs
    {'train': 2, 'serve': 3}
    """
    check_size(topology)
    refuse_shared(topology, "the clock of teccl")
    _check(tenants)
    settings = {
        "epoch": epoch,
        "crossing": crossing,
        "switches": switches,
        "buffer": buffer,
        "buffering": buffering,
        "slow": slow,
        "solver": solver,
    }
    ordered = sorted(tenants, key=lambda tenant: -tenant.priority)
    tasks = _tasks(topology, ordered, settings, chunk_bytes)
    demands = [task.demand(topology) for task in tasks]
    _check_sizes(ordered, demands)
    network = tasks[0].network(topology, Demand.joined(demands))
    return _Sharing(network, ordered, demands, solver, limits or Limits()).run()


def _check(tenants: Sequence[Tenant]) -> None:
    names = [tenant.name for tenant in tenants]
    if not names:
        raise InvalidParameterError("there are no tenants; name one or more")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidParameterError(f"two tenants are called {twice[0]!r}; give each its own name")
    for tenant in tenants:
        check_supported(f"teccl, of tenant {tenant.name!r},", tenant.collective, _COLLECTIVES)


def _check_sizes(tenants: Sequence[Tenant], demands: Sequence[Demand]) -> None:
    first = demands[0].chunk_kb
    for tenant, demand in zip(tenants, demands, strict=True):
        if demand.chunk_kb != first:
            raise InvalidParameterError(
                f"chunks of tenant {tenant.name!r} have {1000 * demand.chunk_kb} bytes, those of "
                f"{tenants[0].name!r} {1000 * first}; all must be of one size: change size_bytes "
                f"or chunks"
            )


def _tasks(
    topology: Topology, tenants: Sequence[Tenant], settings: dict[str, object], chunk_bytes: int
) -> list[Task]:
    """Make the tasks: first those without a demand, whose chunks set the size for all others."""
    tasks: dict[str, Task] = {}
    length = chunk_bytes
    for tenant in tenants:
        if tenant.demand is None:
            tasks[tenant.name] = task = _task(topology, tenant, settings)
            size = 1000 * task.demand(topology).chunk_kb
            length = length or math.ceil(size)
    given = {each.name: _given(topology, each) for each in tenants if each.demand is not None}
    longest = [chunk_bytes_of(given[each.name], each.chunks) for each in tenants if each.demand]
    for name, demand in given.items():
        tasks[name] = Task(
            collective="all-to-all",
            root=0,
            size_bytes=demand.bytes,
            chunks=1,
            milp=True,
            given=demand,
            chunk_bytes=length or max(longest),
            **settings,  # type: ignore[arg-type]
        )
    return [tasks[tenant.name] for tenant in tenants]


def _given(topology: Topology, tenant: Tenant) -> GivenDemand:
    if tenant.group:
        raise InvalidParameterError(
            f"tenant {tenant.name!r} has a demand and a group; a demand names its own GPUs"
        )
    if tenant.chunks < 1:
        raise InvalidParameterError(f"chunks is {tenant.chunks}; it must be 1 or more")
    assert tenant.demand is not None
    return demand_in(tenant.demand, topology) if isinstance(tenant.demand, str) else tenant.demand


def _task(topology: Topology, tenant: Tenant, settings: dict[str, object]) -> Task:
    task = Task(
        collective=tenant.collective,
        root=rank_of_root(topology, tenant.root),
        size_bytes=tenant.size_bytes,
        chunks=tenant.chunks,
        milp=True,
        **settings,  # type: ignore[arg-type]
    )
    if not tenant.group:
        return task
    given, length = _of_group(topology, tenant)
    return replace(task, collective="all-to-all", chunks=1, given=given, chunk_bytes=length)


def _of_group(topology: Topology, tenant: Tenant) -> tuple[GivenDemand, int]:
    """Return the demand of a collective among some GPUs, and the bytes of its chunks."""
    among = group(topology, tenant.group)
    ranks = [topology.rank_of[node] for node in among.compute]
    root = rank_of_root(topology, tenant.root)
    if tenant.collective == "broadcast" and root not in ranks:
        name = topology.nodes[topology.ends[root]].name
        raise InvalidParameterError(
            f"tenant {tenant.name!r}: the root {name} is not in its group; name a root with root"
        )
    of_group = ranks.index(root) if root in ranks else 0
    local = demand_of(len(ranks), tenant.collective, tenant.chunks, tenant.size_bytes, of_group)
    length = 1000 * local.chunk_kb
    if length.denominator != 1:
        raise InvalidParameterError(
            f"tenant {tenant.name!r}: {tenant.size_bytes} bytes are no whole number for each of "
            f"{local.chunks.whole} chunks; take a multiple"
        )
    chunks = (
        (ranks[source], int(length), [ranks[rank] for rank in sorted(wants)])
        for source, wants in zip(local.roots, local.wants, strict=True)
    )
    return GivenDemand.of_chunks(topology.num_compute, chunks, tenant.name), int(length)


@dataclass
class _Sharing:
    """Tenants and their demands, the highest priority first."""

    network: EpochNetwork
    tenants: Sequence[Tenant]
    demands: Sequence[Demand]
    solver: str
    limits: Limits

    def run(self) -> Shared:
        deadline = self.limits.deadline
        epochs: dict[str, int] = {}
        bounds: dict[str, int] = {}
        due: tuple[int, ...] = ()
        given = due
        levels = sorted({tenant.priority for tenant in self.tenants}, reverse=True)
        found, joined = Found({}, 0, 0), Demand.joined(self.demands)
        for at, level in enumerate(levels):
            here = [tenant.name for tenant in self.tenants if tenant.priority == level]
            served = sum(tenant.priority >= level for tenant in self.tenants)
            joined = Demand.joined(self.demands[:served])
            limits = self.limits.until(deadline).shared(len(levels) - at)
            found = fewest_epochs(self.network, joined, self.solver, limits, due=due)
            epochs.update(dict.fromkeys(here, found.epochs))
            bounds.update(dict.fromkeys(here, found.bound))
            given = due
            due += (found.epochs,) * (len(joined.wants) - len(due))
        limits = self.limits.until(deadline)
        kept = without_repeats(self.network, joined, found, self.solver, limits, given)
        whole = schedule_of(self.network, joined, kept, "allgather", 1)
        stages = [
            Stage(tenant.collective, tenant.size_bytes, demand)
            for tenant, demand in zip(self.tenants, self.demands, strict=True)
        ]
        names = [tenant.name for tenant in self.tenants]
        return Shared(dict(zip(names, split(whole, stages), strict=True)), epochs, bounds)


def check_together(topology: Topology, schedules: Iterable[StepSchedule]) -> None:
    """Prove that the sum of all rates on every link is within its bandwidth at any moment.

    Each transfer leaves at an even rate over its one path, and reaches each link later by the
    latencies of those before it. ``verify`` proves each schedule by itself.

    Raises
    ------
    VerificationError
        With the first overloaded link.
    UnsupportedError
        If the topology has shared capacities.
    """
    refuse_shared(topology, "the check of several clocks together")
    changes: dict[tuple[int, int], dict[Fraction, Fraction]] = defaultdict(
        lambda: defaultdict(Fraction)
    )
    for schedule in schedules:
        for link, begin, end, rate in _uses(schedule):
            changes[link][begin] += rate
            changes[link][end] -= rate
    for (tail, head), at in changes.items():
        carried, most = Fraction(0), topology.link_between[tail, head].bandwidth_gb_s
        for moment in sorted(at):
            carried += at[moment]
            if carried > most:
                names = " -> ".join(topology.nodes[node].name for node in (tail, head))
                raise VerificationError(
                    f"link {names} carries {carried} GB/s from {moment} us on, of all schedules "
                    f"together; its bandwidth is {most} GB/s"
                )


def _uses(
    schedule: StepSchedule,
) -> Iterator[tuple[tuple[int, int], Fraction, Fraction, Fraction]]:
    """Yield each use of a link, with start and end in microseconds and rate in GB/s."""
    clock, routes, sends = schedule.clock, schedule.routes, schedule.sends
    assert clock is not None
    assert clock.left is not None
    hops, at = routes.hop.tolist(), routes.first_hop.tolist()
    columns = (schedule.intervals.amount, sends.paths, clock.start, clock.left)
    for amount, path, start, left in zip(*(each.tolist() for each in columns), strict=True):
        begin, busy = start * clock.tick_us, (left - start) * clock.tick_us
        size_kb = Fraction(amount, schedule.chunks.whole) * clock.size_bytes / 1000
        for link in pairwise(hops[at[path] : at[path + 1]]):
            yield link, begin, begin + busy, size_kb / busy
            begin += schedule.topology.link_between[link].latency_us
