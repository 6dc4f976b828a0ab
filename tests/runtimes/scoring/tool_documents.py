"""Small files as TE-CCL, TACCL and SCCL write them, made by hand."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.scoring.other_tools.sccl_algorithm import read_sccl_algorithm
from forestcoll.runtimes.scoring.other_tools.teccl_output import read_teccl_output
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.topology import Topology
from forestcoll.topology.reading.documents import Document, parse_json
from tests.hand_networks import network_of


def document(data: object) -> Document:
    return parse_json(json.dumps(data), "by hand", InvalidScheduleError)


def teccl(data: object) -> ToolTransfers:
    return read_teccl_output(document(data))


def sccl(data: object) -> ToolTransfers:
    return read_sccl_algorithm(document(data))


def written(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data, indent=2))
    return path


# --- TE-CCL --------------------------------------------------------------------------------------


def ring_sentences(gpus: int) -> list[str]:
    """An allgather one way round a ring whose GPUs are nodes 1 and so on."""
    return [
        f"Chunk 0 from {1 + source} traveled over "
        f"{1 + (source + hop) % gpus}->{1 + (source + hop + 1) % gpus} in epoch {2 * hop}"
        for hop in range(gpus - 1)
        for source in range(gpus)
    ]


def teccl_allgather(flows: Sequence[object]) -> dict[str, Any]:
    return {
        "1-Epoch_Duration": 5e-06,
        "2-Expected_Epoch_Duration": 5e-06,
        "3-Epochs_Required": 4,
        "4-Collective_Finish_Time": 2e-05,
        "5-Algo_Bandwidth": 1.5,
        "6-Demand_Met": {"GPU 1": {"GPU 2": {"Chunk 0": 1e-05}}},
        "7-Flows": flows,
        "8-Chunk paths": {"Demand at 2 for chunk 0 from 1 met by epoch 0": ["1->2 in epoch 0"]},
        "Solver_Time": 1.25,
    }


def teccl_all_to_all(demands: dict[tuple[int, int, int], list[list[str]]]) -> dict[str, Any]:
    """All paths of each demand (source, target, chunk), a sentence for each hop."""
    paths = {
        f"Demand at {target} for chunk {chunk} from {source} met by epoch 9": [
            [[number, hop] for number, hop in enumerate(path)] for path in ways
        ]
        for (source, target, chunk), ways in demands.items()
    }
    flows = [
        f"Chunk {chunk} from {source} traveled over {hop}"
        for (source, _, chunk), ways in demands.items()
        for path in ways
        for hop in path
    ]
    return {"1-Epoch_Duration": 1e-08, "7-Flows": flows, "8-Chunk paths": paths}


def star_with_a_link() -> Topology:
    """GPUs a, b, c at a switch, 2 GB/s each way, and a link of 1 GB/s between a and b."""
    return network_of("[s] a b c", "a b c - s: 2, a - b", "star with a link")


# --- SCCL and TACCL ------------------------------------------------------------------------------


def sccl_file(
    nodes: int,
    chunks: Iterable[tuple[Sequence[int], Sequence[int], int]],
    steps: Sequence[Sequence[Sequence[object]]],
    *,
    kind: str = "msccl_type",
    counted: int = 1,
) -> dict[str, Any]:
    """An algorithm with chunks (pre, post, address) and steps of sends."""
    return {
        kind: "algorithm",
        "name": "by hand",
        "instance": {
            kind: "instance",
            "steps": len(steps),
            "extra_rounds": 0,
            "chunks": counted,
            "pipeline": None,
            "extra_memory": None,
            "allow_exchange": False,
        },
        "input_map": {},
        "output_map": {},
        "steps": [{kind: "step", "rounds": 1, "sends": list(sends)} for sends in steps],
        "collective": {
            kind: "collective",
            "name": "by hand",
            "nodes": nodes,
            "chunks": [
                {kind: "chunk", "pre": list(pre), "post": list(post), "addr": address}
                for pre, post, address in chunks
            ],
            "triggers": {},
        },
        "topology": {kind: "topology", "name": "none of ours"},
    }


def allreduce_of_a_ring(gpus: int) -> dict[str, Any]:
    """As TACCL writes it: one buffer listed, as many addresses as GPUs sent one way round."""
    reducing = [
        [[a, (a + 1 + hop) % gpus, (a + 2 + hop) % gpus, 10 * hop, 0, "rrc"] for a in range(gpus)]
        for hop in range(gpus - 1)
    ]
    sending = [
        [
            [a, (a + hop) % gpus, (a + hop + 1) % gpus, 10 * (gpus + hop), 0, None]
            for a in range(gpus)
        ]
        for hop in range(gpus - 1)
    ]
    one_buffer = [([rank], range(gpus), 0) for rank in range(gpus)]
    return sccl_file(gpus, one_buffer, reducing + sending, kind="sccl_type", counted=gpus)
