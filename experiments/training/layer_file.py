"""One's own layers, with measured times, as a CSV file.

The columns are name, forward_us, backward_us, parameter_bytes and, where a layer has experts,
routed_bytes: what a GPU sends in one all-to-all. Layers come in the order of the forward pass.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from experiments.training.parallelism import Layer
from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidParameterError

__all__ = ["MOST_BYTES", "read_layers"]

MOST_BYTES = 4 * 2**20
"""Limit of a file: some 50,000 layers."""

_NEEDED = ("name", "forward_us", "backward_us", "parameter_bytes")
_LARGEST = 1e18


def read_layers(path: Path) -> list[Layer]:
    """Read layers from a file.

    Raises
    ------
    InvalidParameterError
        Naming the file, the line and the column.
    """
    text = read_text_at_most(path, MOST_BYTES, InvalidParameterError)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    columns = rows.fieldnames or []
    if missing := [name for name in _NEEDED if name not in columns]:
        raise InvalidParameterError(
            f"{path}: has no column {missing[0]!r}; the columns are {', '.join(_NEEDED)} and, for "
            f"experts, routed_bytes"
        )
    layers: list[Layer] = []
    for row in rows:
        where = f"{path}: line {rows.line_num}"
        layers.append(
            Layer(
                f"{len(layers)} {row['name'] or ''}".strip(),
                _number(row, "forward_us", where) / 1e6,
                _number(row, "backward_us", where) / 1e6,
                int(_number(row, "parameter_bytes", where)),
                int(_number(row, "routed_bytes", where)) if row.get("routed_bytes") else 0,
            )
        )
    if not layers:
        raise InvalidParameterError(f"{path}: has no layers; write a line for each")
    return layers


def _number(row: dict[str, str | None], column: str, where: str) -> float:
    text = row[column]
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not 0 <= number <= _LARGEST:
        raise InvalidParameterError(
            f"{where}: {column} is {(text or '')[:40]!r}; it must be a number from 0 to 1e18"
        )
    return number
