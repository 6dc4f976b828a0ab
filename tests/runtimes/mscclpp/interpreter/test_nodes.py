"""Nodes, their edges and their names."""

from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes, Sync


def test_nodes_are_named_by_their_operations() -> None:
    nodes = PlanNodes()
    nodes.places.append(("copy of GPU 0", Place(0, 1, 2)))
    one, other = nodes.add(0, 0, 0), nodes.add(3, 1)
    nodes.join(one, other)
    assert (nodes.tail, nodes.head) == ([0], [1])
    assert (nodes.name(one), nodes.place(one)) == ("copy of GPU 0", Place(0, 1, 2))
    assert (nodes.name(other), nodes.place(other)) == ("the launch", Place(3))


def test_edges_of_threads_are_apart() -> None:
    nodes = PlanNodes()
    nodes.join_threads(0, 1)
    assert (nodes.tail, nodes.thread_tail, nodes.thread_head) == ([], [0], [1])


def test_program_order_is_by_nops_and_within_a_thread() -> None:
    """Threads 0 and 1 before the nop, thread 0 twice; nothing of another threadblock."""
    first, same, beside = Sync(0, 0, 0, 0, False), Sync(1, 0, 0, 0, False), Sync(2, 0, 0, 1, False)
    later, elsewhere = Sync(3, 0, 1, 1, False), Sync(4, 1, 1, 0, False)
    assert first.is_before(same)
    assert not first.is_before(beside)
    assert first.is_before(later)
    assert not first.is_before(elsewhere)
