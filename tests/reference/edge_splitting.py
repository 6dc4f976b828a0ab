r"""Switches out, logical links in.

Problem: replace (u, w), (w, t) by (u, t) until no switch has a link left, such that every set of
         nodes keeps the capacity its trees need.
Input:   whole capacities that meet condition (C), d(X) >= Q - q(X) for every X with a target, and
         switches that can receive all they send (in >= out). GPUs may be unbalanced.
Output:  capacities between GPUs, and the table of what runs through which switch.
Cost:    2 N max-flows for each pair of links at a switch.
Source:  ForestColl section 5.3 and appendix E.2, Algorithm 3, Theorems 5 and 6.

The paper asks for balance everywhere. Theorem 6 itself never uses it, and Theorem 5 only needs
in >= out at the switches. For suppose no (u, w) pairs with (w, t). Then each is blocked by a set
with nothing to spare, which either holds u and t but not w, or holds w but neither u nor t.
Uncrossing merges those of the first sort into one, Y, and intersects those of the second to one, X
(two that meet in switches only can have no link between these switches and the outside of both,
but (w, t) is such a link). Now some set has less than it needs: Y + w if all are of the first sort,
X - w if all are of the second; otherwise X & Y or X | Y if these two share a GPU, (X \ Y) - w if
not. What is left of a switch's in-links in the end serves nobody and is dropped.
"""

from collections.abc import Iterable, Mapping

from tests.reference.flow import SOURCE, Capacity, max_flow, with_source

Routing = dict[tuple[int, int], dict[int, int]]
"""``routing[u, t][w]``: capacity of the logical link (u, t) that runs from u over w to t.

(u, w) and (w, t) may be logical links in turn, made when an earlier switch was removed.
"""


def remove_switches(
    capacity: Mapping[tuple[int, int], int], switches: Iterable[int], trees: Mapping[int, int]
) -> tuple[Capacity, Routing]:
    """Return the graph without switches and its path-recovery table (Algorithm 3).

    Parameters
    ----------
    capacity : mapping of (int, int) to int
        Trees that each link may carry.
    switches : iterable of int
        Nodes to remove, in this order.
    trees : mapping of int to int
        Trees rooted at each node that stays.
    """
    graph = {link: room for link, room in capacity.items() if room}
    routing: Routing = {}
    for w in switches:
        sources = sorted(tail for tail, head in graph if head == w)
        sinks = sorted(head for tail, head in graph if tail == w)
        received, sent = (sum(graph[u, w] for u in sources), sum(graph[w, t] for t in sinks))
        assert received >= sent, f"switch {w} receives {received} but sends {sent}"
        for t in sinks:
            for u in sources:
                _split(graph, routing, u, w, t, splittable(graph, trees, u, w, t))
            assert (w, t) not in graph, f"Theorem 5: some link into {w} pairs with ({w}, {t})"
        graph = {link: room for link, room in graph.items() if w not in link}
    return graph, routing


def splittable(graph: Capacity, trees: Mapping[int, int], u: int, w: int, t: int) -> int:
    """Return the most that (u, w), (w, t) may be split off by: Theorem 6's gamma.

    A split takes from the cuts with s, u, t on one side and w and a GPU v on the other, and from
    those with s, w on one side and u, t, v on the other; unbounded links force these sides.
    """
    needed = sum(trees.values())
    network = with_source(graph, trees)
    unbounded = sum(network.values()) + 1
    room = min(graph.get((u, w), 0), graph.get((w, t), 0))
    for v in trees:
        for tail, head, forced in (
            (u, w, [(u, SOURCE), (u, t), (v, w)]),
            (w, t, [(w, SOURCE), (u, t), (v, t)]),
        ):
            if room == 0:
                return 0
            sides = {link: unbounded for link in forced if link[0] != link[1]}
            flow = max_flow({**network, **sides}, tail, head, limit=needed + room)
            room = min(room, flow.value - needed)
    return room


def _split(graph: Capacity, routing: Routing, u: int, w: int, t: int, amount: int) -> None:
    """Move ``amount`` from (u, w), (w, t) to (u, t); a link from a node to itself is dropped."""
    if amount == 0:
        return
    for link in ((u, w), (w, t)):
        graph[link] -= amount
        if graph[link] == 0:
            del graph[link]
    if u != t:
        graph[u, t] = graph.get((u, t), 0) + amount
        via = routing.setdefault((u, t), {})
        via[w] = via.get(w, 0) + amount
