"""Files that start one process a GPU in the order of a network's ranks.

Problem: a schedule's ranks are those of the topology; a launcher numbers processes its own way.
Input:   a topology whose GPUs have boxes.
Output:  Open MPI's rank file, and the environment of NCCL as far as the network tells it.
Cost:    linear in GPUs.
Source:  mpirun(1), rankfiles; NCCL's documentation of CUDA_VISIBLE_DEVICES and NCCL_IB_HCA.
"""

from __future__ import annotations

from forestcoll.errors import ExportError
from forestcoll.topology.model import Node, Topology

__all__ = ["topology_environment", "topology_rank_file"]

_NOT_KNOWN = "# NCCL_IB_HCA does not follow: the network has no node for each NIC."


def topology_rank_file(topology: Topology) -> str:
    """Return a rank file of Open MPI: rank, host and slot.

    Raises
    ------
    ExportError
        If a GPU is in no box.
    """
    lines = []
    slots: dict[int, int] = {}
    hosts = _hosts(topology)
    for rank, gpu in enumerate(topology.compute):
        box = _box(topology.nodes[gpu])
        slot = slots.get(box, 0)
        slots[box] = slot + 1
        lines.append(f"rank {rank}={hosts[box]} slot={slot}")
    return "\n".join(lines) + "\n"


def topology_environment(topology: Topology) -> str:
    """Return environment variables that give every process its GPU and NCCL its NICs.

    Raises
    ------
    ExportError
        If a GPU is in no box or has no number there, or boxes order their GPUs differently.
    """
    orders: dict[int, list[int]] = {}
    for gpu in topology.compute:
        node = topology.nodes[gpu]
        if node.index is None:
            raise ExportError(f"{node.name} has no number in its box; give all GPUs an index")
        orders.setdefault(_box(node), []).append(node.index)
    distinct = {tuple(order) for order in orders.values()}
    if len(distinct) > 1:
        raise ExportError(
            f"{topology.name}: boxes have different orders of GPUs, so one CUDA_VISIBLE_DEVICES "
            f"cannot serve all; write a file for each box"
        )
    order = ",".join(map(str, distinct.pop()))
    return f"CUDA_VISIBLE_DEVICES={order}\nCUDA_DEVICE_ORDER=PCI_BUS_ID\n{_nics(topology)}\n"


def _nics(topology: Topology) -> str:
    """Return NCCL_IB_HCA if every box has the same NICs as nodes of the network."""
    found: dict[int, list[str]] = {}
    for place in topology.switches:
        node = topology.nodes[place]
        name = node.name.rpartition(".")[2]
        if node.box is not None and name.startswith(("mlx", "bnxt", "irdma", "roce", "hfi")):
            found.setdefault(node.box, []).append(name)
    boxes = {_box(topology.nodes[gpu]) for gpu in topology.compute}
    orders = {tuple(names) for names in found.values()}
    if len(orders) != 1 or found.keys() != boxes:
        return _NOT_KNOWN
    return f"NCCL_IB_HCA=={','.join(orders.pop())}"


def _hosts(topology: Topology) -> dict[int, str]:
    """Return the names of machines: what their GPUs' names share, or ``b0``."""
    names: dict[int, set[str]] = {}
    for gpu in topology.compute:
        node = topology.nodes[gpu]
        names.setdefault(_box(node), set()).add(node.name.rpartition(".")[0])
    return {box: _host(box, found) for box, found in names.items()}


def _host(box: int, names: set[str]) -> str:
    (name,) = names if len(names) == 1 else ("",)
    return name or f"b{box}"


def _box(node: Node) -> int:
    if node.box is None:
        raise ExportError(f"{node.name} is in no box; give all GPUs one")
    return node.box
