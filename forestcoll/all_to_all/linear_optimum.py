"""All-to-all optimum as a linear program: maximum concurrent flow between all GPUs.

Problem: max concurrent flow, aggregated by source. y_s,e is the flow of source s on link e:

             max  f
             s.t. sum_s y_s,e <= b_e                                  for every link e
                  sum_(e into u) y_s,e - sum_(e out of u) y_s,e = f D(s, u)
                                                                      for every s and node u != s
                  y >= 0

         D(s, u) is 1 for every other GPU, or what is given; 0 for switches and relays.
         With a group of symmetries only one source s of each orbit, of n_s GPUs, is needed, and one
         row for each orbit O of links:

                  sum_s n_s sum_(e in O) y_s,e <= sum_(e in O) b_e
Output:  the rate that the flow found attains and the bound that the prices found prove, as floats,
         equal to the solver's tolerance; the flow and the prices.
Cost:    with S sources S |E| + 1 variables, S (|V| - 1) rows besides those of the links.
Source:  Efficient Direct-Connect Topologies (NSDI 2025), section 6.2, program (3), extended to
         switches, links of any bandwidth and any demands. Links into a source are left out.

One source of each orbit is exact, since the average of an optimal y over the group is optimal too;
conversely the average of what the program finds meets every link's bandwidth, and is what
:func:`forestcoll.all_to_all.path_schedule.schedule_of` builds. In full, with times:
docs/mathematics/all-to-all.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from forestcoll.all_to_all.flow_problem import FlowProblem, flow_problem
from forestcoll.all_to_all.grids.dimension_order import dimension_ordered
from forestcoll.all_to_all.grids.halfway_cut import halfway_cut
from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
)
from forestcoll.solver.linear_program import Program, Settings, Solution, Vector
from forestcoll.solver.solve import solve
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, check_orbits, find_orbits, no_symmetry

__all__ = ["AllToAllLp", "AllToAllOptimum", "all_to_all_rate", "build", "extract", "grid_rate"]


_MANY_COLUMNS = 10_000
"""From here on the program over fewer links, those of shortest paths, is tried first, with the rate
at the bound of a cut and then free. It is many times faster."""

_PROVED = 1e-7
"""Gap below which the program over all links is not solved: the solver would not narrow it. Rate
and bound are reported as they are."""

_TIE = 1e-9
"""Relative difference of two lengths that count as equal. It selects columns only; the bound is of
all links."""


@dataclass(frozen=True, slots=True)
class AllToAllOptimum:
    """Optimum of the linear program, with the flow and prices that prove it.

    Parameters
    ----------
    rate_gb_s : float
        The flow delivers to every pair its amount times this rate; at most the bound.
    bound_gb_s : float
        Upper bound on the rate of any routing, from the prices by shortest paths.
    sources : tuple of int
        Ranks, one of each orbit.
    flow_gb_s : float array of shape (S, E)
        Of each source on each link; it delivers at least that rate, on links at most full.
    price : float array, one entry a link, and then one a shared capacity
    status : str
        The solver's; "optimal".
    tolerance : float
        That the solver was given, in the scaled program.
    """

    demands: FlowProblem = field(repr=False)
    orbits: Orbits = field(repr=False)
    rate_gb_s: float
    bound_gb_s: float
    sources: tuple[int, ...]
    flow_gb_s: Vector = field(repr=False)
    price: Vector = field(repr=False)
    status: str
    tolerance: float

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.demands.topology

    @property
    def method(self) -> str:
        """The method name of a schedule made from it."""
        return "all-to-all-lp"

    @property
    def gap(self) -> float:
        """The gap between rate and bound, relative to the bound."""
        return 1 - self.rate_gb_s / self.bound_gb_s


@dataclass(frozen=True, slots=True)
class AllToAllLp:
    """The program, scaled so that f = 1 stands for a known bound on the rate.

    Amounts are divided by the largest, so that flows are in units of what it sends at that rate.

    Columns: the flow of each source on each link in turn, then f. Rows: the link orbits, then the
    families of shared capacities (of equal bandwidth, with equally many links of each orbit), then
    the nodes of each source in turn, the source's own left empty.
    """

    program: Program = field(repr=False)
    demands: FlowProblem
    orbits: Orbits = field(repr=False)
    sources: tuple[int, ...]
    sizes: npt.NDArray[np.int64]
    scale_gb_s: float
    family: npt.NDArray[np.int64]


def all_to_all_rate(
    topology: Topology,
    amount: npt.ArrayLike | None = None,
    *,
    settings: Settings,
    orbits: Orbits | None = None,
) -> AllToAllOptimum:
    """Build, solve and read the program.

    Parameters
    ----------
    amount : array of shape (N, N), optional
        Amount that each rank has for each other, in any unit; 1 for every other by default.
    settings : Settings
        Of the solver; "highs-ipm" is the fastest of its methods for all but the smallest networks.
        The time limit is that of the whole call. A search for symmetries, once begun, is not cut
        short, but counts.
    orbits : Orbits, optional
        Of known symmetries. If not given, they are searched for, if all amounts are equal.

    Raises
    ------
    DisconnectedError
        If a GPU cannot reach one that it has something for.
    InvalidParameterError
        For impossible amounts, orbits of another network, or orbits where amounts differ, of which
        they may not be symmetries.
    TimeLimitError
        With no incumbent and the best bound known on the rate in GB/s.
    SolverError
        Unless the solver proves an optimum, and its flow serves every pair.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> settings = Settings(seconds=60)
    >>> found = all_to_all_rate(load_topology("complete_bipartite:degree=4"), settings=settings)
    >>> round(found.rate_gb_s, 9), round(found.bound_gb_s, 9)
    (0.4, 0.4)
    """
    deadline = time.perf_counter() + settings.seconds
    demands = flow_problem(topology, amount)
    if orbits is None:
        orbits = find_orbits(topology) if demands.uniform else no_symmetry(topology)
    elif not demands.uniform and orbits.generators:
        raise InvalidParameterError(
            "symmetries of the network are given together with amounts that differ, which they may "
            "not keep; leave one of the two out"
        )
    else:
        check_orbits(topology, orbits)
    stated = build(demands, orbits)
    if stated.program.matrix.shape[1] > _MANY_COLUMNS:
        for narrowed in (_at_the_bound_of_a_cut, _over_shortest_paths):
            found = narrowed(stated, settings, deadline)
            if found is not None and found.gap < _PROVED:
                return found
    return extract(stated, _solved(stated, settings, deadline))


def grid_rate(
    demands: FlowProblem, orbits: Orbits, *, settings: Settings
) -> AllToAllOptimum | None:
    """Return the optimum of a grid whose flow in dimension order attains the bound of a cut.

    It is found many times faster than the program over all links is solved. None if the network is
    no such grid, or half of the time is over.
    """
    if dimension_ordered(demands.topology) is None:
        return None
    deadline = time.perf_counter() + settings.seconds
    return _at_the_bound_of_a_cut(build(demands, orbits), settings, deadline)


def _at_the_bound_of_a_cut(
    stated: AllToAllLp, settings: Settings, deadline: float
) -> AllToAllOptimum | None:
    """Find a flow at the bound of a cut over quickest paths, on grids in dimension order.

    The rate is fixed at that bound, so the program has no objective, and its prices prove nothing.
    None if there is no such flow.
    """
    demands, program = stated.demands, stated.program
    price = halfway_cut(demands)
    bound = demands.bound_gb_s(price)
    if bound > stated.scale_gb_s * (1 + _TIE):  # which no flow exceeds
        return None
    least, most = program.lower.copy(), program.upper.copy()
    least[-1] = most[-1] = bound / stated.scale_gb_s
    fixed = replace(program, cost=np.zeros_like(program.cost), lower=least, upper=most)
    usable = _on_quickest_paths(stated)
    if (ordered := dimension_ordered(demands.topology)) is not None:
        usable &= ordered[demands.sources[list(stated.sources)]]
    found = _narrowed(replace(stated, program=fixed), usable, settings, deadline)
    if found is None:
        return None
    return replace(found, rate_gb_s=min(found.rate_gb_s, bound), bound_gb_s=bound, price=price)


def _over_shortest_paths(
    stated: AllToAllLp, settings: Settings, deadline: float
) -> AllToAllOptimum | None:
    """Solve the program with no other flows than over the quickest paths of each source.

    Its prices are a bound for all flows, and where the bound is met, this is the optimum. None
    without a solution in half of the time: the program over all links would take longer.
    """
    return _narrowed(stated, _on_quickest_paths(stated), settings, deadline)


def _on_quickest_paths(stated: AllToAllLp) -> npt.NDArray[np.bool_]:
    """Return for each source of the program the links on its quickest paths."""
    demands = stated.demands
    seconds = 1 / demands.bandwidth
    distances = demands.distances(np.append(seconds, np.zeros(len(demands.limit))))
    there = distances[list(stated.sources)]
    usable = there[:, demands.tail] + seconds <= there[:, demands.head] * (1 + _TIE)
    return np.asarray(usable)


def _narrowed(
    stated: AllToAllLp, usable: npt.NDArray[np.bool_], settings: Settings, deadline: float
) -> AllToAllOptimum | None:
    """Solve over some links of each source; None without a solution in half of the time.

    Columns that are fixed at 0 are left out.
    """
    program = stated.program
    kept = np.flatnonzero(np.append(usable, True) & (program.upper > 0))
    left = min(settings.seconds / 2, deadline - time.perf_counter())
    if left <= 0:
        return None
    narrowed = replace(
        program,
        cost=program.cost[kept],
        matrix=program.matrix[:, kept],
        lower=program.lower[kept],
        upper=program.upper[kept],
    )
    try:
        found = solve(narrowed, replace(settings, seconds=left))
        x = np.zeros(len(program.cost))
        x[kept] = found.x
        return extract(stated, replace(found, x=x))
    except (TimeLimitError, SolverError, InfeasibleError):
        return None


def _solved(stated: AllToAllLp, settings: Settings, deadline: float) -> Solution:
    """Solve in the time that is left; a limit's bound is in GB/s."""
    topology = stated.demands.topology
    left = deadline - time.perf_counter()
    if left <= 0:
        raise TimeLimitError(
            f"{topology.name}: the limit of {settings.seconds:g} s was over before the "
            f"program was stated; in GB/s per unit of demand the rate is at most "
            f"{stated.scale_gb_s:.6g}; allow more time, or give known symmetries",
            bound=stated.scale_gb_s,
        )
    try:
        return solve(stated.program, replace(settings, seconds=left))
    except TimeLimitError as error:
        bound = stated.scale_gb_s
        if isinstance(error.bound, float):
            bound = min(bound, error.bound * stated.scale_gb_s)
        raise TimeLimitError(
            f"{topology.name}: {error}; in GB/s per unit of demand the rate is at most {bound:.6g}",
            bound=bound,
        ) from error


def build(demands: FlowProblem, orbits: Orbits) -> AllToAllLp:
    """State the program; nothing is solved yet."""
    of_rank = orbits.node[demands.sources]
    _, first, sizes = np.unique(of_rank, return_index=True, return_counts=True)
    links, nodes, count = len(demands.tail), len(demands.topology.nodes), len(first)
    # Equal spending on all links proves a first bound; f = 1 stands for it, so values are near 1.
    scale = demands.bound_gb_s(1 / demands.bandwidth)
    largest = demands.largest
    together = np.bincount(orbits.link, weights=demands.bandwidth) / (scale * largest)

    link_orbits = sp.csr_array((np.ones(links), (orbits.link, np.arange(links))))
    family, in_family = _families(demands, link_orbits)
    over = sp.vstack([link_orbits, in_family @ demands.holds])
    limit = in_family @ demands.limit / (scale * largest)
    # n_s images of the flow of source s share the links of an orbit.
    load = sp.kron(sizes, over)
    wanted = demands.amount[first].reshape(-1, 1) / largest
    matrix = sp.block_array(
        [[load, None], [_balances(demands, first), sp.csr_array(-wanted)]], format="csr"
    )
    # Flow that returns to its source is useless; these columns are fixed at 0.
    into_itself = np.concatenate([demands.head == demands.sources[rank] for rank in first])
    most = np.concatenate([(together / size)[orbits.link] for size in sizes])
    loose = 2.0  # no bound of a column may take a row's price
    program = Program(
        cost=np.append(np.zeros(count * links), 1.0),
        matrix=matrix,
        row_lower=np.concatenate([np.full(over.shape[0], -np.inf), np.zeros(count * nodes)]),
        row_upper=np.concatenate([together, limit, np.zeros(count * nodes)]),
        lower=np.zeros(count * links + 1),
        upper=np.append(np.where(into_itself, 0.0, loose * most), loose),
        maximise=True,
    )
    return AllToAllLp(program, demands, orbits, tuple(first.tolist()), sizes, scale, family)


def _families(
    demands: FlowProblem, link_orbits: sp.csr_array
) -> tuple[npt.NDArray[np.int64], sp.csr_array]:
    """Return the family of each shared capacity, and a matrix that adds the members up.

    Where loads are equal within orbits, all members carry the same.
    """
    counts = (demands.holds @ link_orbits.T).toarray()
    rows = np.hstack([demands.limit[:, None], counts])
    _, family = np.unique(rows, axis=0, return_inverse=True)
    family, groups = family.reshape(-1).astype(np.int64), len(rows)
    shape = (int(family.max(initial=-1)) + 1, groups)
    return family, sp.csr_array((np.ones(groups), (family, np.arange(groups))), shape=shape)


def extract(stated: AllToAllLp, solution: Solution) -> AllToAllOptimum:
    """Read a solved program in GB/s; rate and bound are computed from the flow and the prices."""
    demands, orbits = stated.demands, stated.orbits
    count, links = len(stated.sources), len(demands.tail)
    unit = stated.scale_gb_s * demands.largest
    flow = np.maximum(solution.x[:-1].reshape(count, links), 0) * unit
    sent = stated.sizes @ flow
    load = np.bincount(orbits.link, weights=sent)
    fullest = float((load / np.bincount(orbits.link, weights=demands.bandwidth)).max())
    if len(demands.limit):
        mean = (load / np.bincount(orbits.link))[orbits.link]
        fullest = max(fullest, float((demands.holds @ mean / demands.limit).max()))
    least = _least_delivered(demands, stated.sources, flow)
    if not least > 0:
        raise SolverError(
            f"{demands.topology.name}: the solver's flow serves some pair not at all, within its "
            f"tolerance of {solution.settings.tolerance:g}; ask for a smaller one, use another "
            f"method, or leave out amounts that are tiny beside others"
        )
    assert solution.row_duals is not None  # there are no whole variables
    of_orbits, families = int(orbits.link.max()) + 1, int(stated.family.max(initial=-1)) + 1
    duals = np.maximum(solution.row_duals[: of_orbits + families], 0)
    price = np.concatenate([duals[orbits.link], duals[of_orbits + stated.family]])
    bound = demands.bound_gb_s(price)
    return AllToAllOptimum(
        demands=demands,
        orbits=orbits,
        rate_gb_s=min(least / fullest, bound),
        bound_gb_s=bound,
        sources=stated.sources,
        flow_gb_s=flow / fullest,
        price=price,
        status=solution.status,
        tolerance=solution.settings.tolerance,
    )


def _least_delivered(demands: FlowProblem, sources: tuple[int, ...], flow: Vector) -> float:
    """Return the least that reaches a node and stays there, over all pairs, per unit of its amount.

    What a node without a demand sends out beyond what it gets, which a solver's tolerance allows,
    may be what arrived anywhere, and does not count.
    """
    rates = []
    for rank, sent in zip(sources, flow, strict=True):
        nodes = len(demands.topology.nodes)
        kept = np.bincount(demands.head, sent, nodes) - np.bincount(demands.tail, sent, nodes)
        kept[demands.sources[rank]] = 0
        amount = demands.amount[rank]
        wanted = amount > 0
        invented = -float(np.minimum(kept[~wanted], 0).sum())
        rates.append(((kept[wanted] - invented) / amount[wanted]).min(initial=np.inf))
    return float(min(rates))


def _balances(demands: FlowProblem, ranks: npt.NDArray[np.int64]) -> sp.csr_array:
    """Return what flows of some ranks bring to each node, less what they take; none at a source."""
    count, links, nodes = len(ranks), len(demands.tail), len(demands.topology.nodes)
    columns = np.arange(count * links)
    rank, link = np.divmod(columns, links)
    node = np.concatenate([demands.head[link], demands.tail[link]])
    row = np.tile(rank, 2) * nodes + node
    sign = np.repeat([1.0, -1.0], len(columns))
    kept = node != np.tile(demands.sources[ranks][rank], 2)
    ends = row[kept], np.tile(columns, 2)[kept]
    return sp.csr_array((sign[kept], ends), shape=(count * nodes, count * links))
