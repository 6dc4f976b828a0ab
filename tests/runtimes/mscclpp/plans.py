"""Plans of MSCCL++ written by hand, and changes of a line."""

import copy
import json
from pathlib import Path
from typing import Any

from forestcoll.runtimes.mscclpp import Plan, parse_plan

FOLDER = Path(__file__).parent

GATHER, BROADCAST = (FOLDER / f"{name}.json" for name in ("gather_of_two", "broadcast_of_four"))
"""An allgather of two GPUs; a broadcast from GPU 0 over 1 to 2 and 3."""


def document(path: Path) -> dict[str, Any]:
    """The data of a file, to be changed."""
    return dict(json.loads(path.read_text()))


def plan_of(data: dict[str, Any]) -> Plan:
    return parse_plan(json.dumps(data)).plan


def operations(data: dict[str, Any], gpu: int = 0, threadblock: int = 0) -> list[dict[str, Any]]:
    """The operations of a threadblock, to be changed in place."""
    found: list[dict[str, Any]] = data["gpus"][gpu]["threadblocks"][threadblock]["ops"]
    return found


def changed(path: Path, gpu: int, place: int, **fields: Any) -> dict[str, Any]:
    """The file with other fields in one operation of a GPU's first threadblock."""
    data = copy.deepcopy(document(path))
    data["gpus"][gpu]["threadblocks"][0]["ops"][place] |= fields
    return data


def dropped(path: Path, gpu: int, place: int) -> dict[str, Any]:
    """The file without one operation."""
    data = document(path)
    del data["gpus"][gpu]["threadblocks"][0]["ops"][place]
    return data
