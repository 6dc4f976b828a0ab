"""Rows as typed tables: parquet for large sets of results, data frames for notebooks.

Every column has its type in :class:`experiments.results.rows.Row`, with missing values. Mappings
(parameters, stages, versions, host) are JSON text, so that every tool can read the file. Exact
numbers are text as well.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from experiments.results.rows import MOST_BYTES, RARE, Row, Status
from forestcoll.atomic_write import write_whole
from forestcoll.bounded_read import open_regular
from forestcoll.errors import InvalidExperimentError

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow.parquet import ParquetFile

__all__ = ["from_frame", "read_parquet", "to_frame", "write_parquet"]

_TYPES = {str: "string", int: "Int64", float: "Float64", bool: "boolean", Status: "string"}
_NESTED = object()

MOST_ROWS = 1_000_000
"""Of a parquet file."""

_LONGEST = 200  # characters of a quoted error of another library


def to_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return the rows as a data frame with a typed column for each field.

    Optional columns are left out if no row has a value.
    """
    import pandas as pd  # the import takes 0.5 s

    columns: dict[str, list[Any]] = {}
    kinds = {name: kind for name, kind in _columns().items() if _is_there(rows, name)}
    for name, kind in kinds.items():
        values = [getattr(row, name) for row in rows]
        columns[name] = [json.dumps(dict(v)) for v in values] if kind is _NESTED else values
    types = {name: _TYPES.get(kind, "string") for name, kind in kinds.items()}
    return pd.DataFrame(columns, dtype=object).astype(types)


def from_frame(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a data frame, which may lack columns that have a default."""
    kinds = _columns()
    rows = []
    for record in frame.to_dict("records"):
        known = {str(name): value for name, value in record.items() if name in kinds}
        values = {name: _value(kinds[name], value) for name, value in known.items()}
        rows.append(Row.from_json(json.dumps(values)))
    return rows


def write_parquet(rows: Sequence[Row], path: Path) -> Path:
    """Write the rows as parquet."""
    frame = to_frame(rows)
    write_whole(path, lambda draft: frame.to_parquet(draft, index=False))
    return path


def read_parquet(path: Path) -> list[Row]:
    """Read rows from parquet.

    Raises
    ------
    InvalidExperimentError
        If the file cannot be read or does not hold rows.
    """
    import pandas as pd
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    with open_regular(path, MOST_BYTES, InvalidExperimentError) as file:
        try:
            _expect_small(ParquetFile(file), path)
            file.seek(0)
            return from_frame(pd.read_parquet(file, dtype_backend="numpy_nullable"))
        except (ArrowException, ValueError, TypeError, OSError) as error:
            problem = " ".join(str(error).split())[:_LONGEST]
            raise InvalidExperimentError(
                f"{path}: these are not rows of results: {problem}"
            ) from error


def _expect_small(file: ParquetFile, path: Path) -> None:
    """Refuse too many rows or bytes: a compressed kilobyte can expand to gigabytes.

    Raises
    ------
    InvalidExperimentError
    """
    about = file.metadata
    groups = range(about.num_row_groups)
    length = sum(about.row_group(number).total_byte_size for number in groups)
    if length > MOST_BYTES or about.num_rows > MOST_ROWS:
        raise InvalidExperimentError(
            f"{path}: has {about.num_rows} rows of {length} bytes in all; at most {MOST_ROWS} of "
            f"{MOST_BYTES} bytes are read"
        )


def _columns() -> dict[str, Any]:
    """Return the type of every column, with a marker for mappings."""
    hints = get_type_hints(Row)
    return {column.name: _plain(hints[column.name]) for column in dataclasses.fields(Row)}


def _is_there(rows: Sequence[Row], name: str) -> bool:
    return name not in RARE or any(getattr(row, name) for row in rows)


def _plain(hint: Any) -> Any:
    if get_origin(hint) is Mapping:
        return _NESTED
    (plain,) = [part for part in get_args(hint) or (hint,) if part is not type(None)]
    return plain


def _value(kind: Any, value: Any) -> Any:
    import pandas as pd

    if value is None or value is pd.NA:
        return None
    return json.loads(value) if kind is _NESTED else kind(value)
