"""File of NCCL's example tuner plugin: one line for each range of sizes.

Source: NVIDIA/nccl 2.30, ``plugins/tuner/example`` (README.md and plugin.c). A line has

    collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks

and optionally the number of operations and whether buffers are registered; -1 stands for any. Both
sizes are included, and the first line that suits a call is taken. Sizes are the larger of the send
and receive buffers, as in nccl-tests.

Where no line suits, and for channels of -1, the plugin sets one channel (``*nChannels = 1``). So
files name the channels, and have a line for every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.advice.nccl_tuner.nccl_costs import ALGORITHMS, COLLECTIVES, PROTOCOLS
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import InvalidParameterError

__all__ = ["MOST_BYTES", "TunerLine", "read_tuner_file", "tuner_text"]

MOST_BYTES = 2**64 - 1
"""The largest size that the plugin reads, which stands for any larger one."""

_LONGEST = 254
"""Characters of a line: the plugin reads 255 with the line feed, and the rest as a new line."""

_MOST_FILE_BYTES = 4_000_000
_NAMES = {name: name.replace("-", "") for name in COLLECTIVES}


@dataclass(frozen=True, slots=True)
class TunerLine:
    """One range of sizes of a collective, and what NCCL is to take there.

    Parameters
    ----------
    min_bytes, max_bytes : int
        Both included.
    channels, boxes, ranks : int
        -1: any.
    """

    collective: str
    min_bytes: int
    max_bytes: int
    algorithm: str
    protocol: str
    channels: int
    boxes: int
    ranks: int

    def text(self) -> str:
        """Return the line of the file."""
        numbers = (self.channels, self.boxes, self.ranks)
        ends = (self.min_bytes, self.max_bytes)
        choice = (self.algorithm, self.protocol)
        return ",".join(map(str, (_NAMES[self.collective], *ends, *choice, *numbers)))


def tuner_text(lines: Sequence[TunerLine], comments: Sequence[str] = ()) -> str:
    """Return the text of a file; comments stand above the lines."""
    head = [f"# {one}"[:_LONGEST] for one in comments]
    columns = "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"
    return "\n".join([*head, columns, *(line.text() for line in lines)]) + "\n"


def read_tuner_file(path: Path) -> list[TunerLine]:
    """Read a file as the plugin does.

    Raises
    ------
    InvalidParameterError
        If a line has too few or too many fields, or names what the plugin does not know. The plugin
        itself leaves out the first, and takes an allreduce, a ring or Simple for the second.
    """
    text = read_at_most(path, _MOST_FILE_BYTES, InvalidParameterError)
    lines = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        if line and not line.startswith("#"):
            lines.append(_line(f"{path}: line {number}", line))
    return lines


def _line(where: str, line: str) -> TunerLine:
    fields = [one.strip(" \t") for one in line.split(",")]
    if not 8 <= len(fields) <= 10:
        raise InvalidParameterError(f"{where} has {len(fields)} fields; the plugin reads 8 to 10")
    collectives = {name: ours for ours, name in _NAMES.items()}
    for value, known in (
        (fields[0], tuple(collectives)),
        (fields[3], tuple(ALGORITHMS)),
        (fields[4], PROTOCOLS),
    ):
        if value not in known:
            raise InvalidParameterError(
                f"{where} has {value!r}, which the plugin does not know; it knows "
                f"{', '.join(known)}"
            )
    try:
        least, most, channels, boxes, ranks = map(int, (*fields[1:3], *fields[5:8]))
    except ValueError:
        raise InvalidParameterError(f"{where} has a size or count that is no number") from None
    return TunerLine(
        collectives[fields[0]], least, most, fields[3], fields[4], channels, boxes, ranks
    )
