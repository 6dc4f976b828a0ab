"""Messages: the pipeline chunks of each transfer, as simulators send them.

Problem: simulators send messages of whole bytes, each with a tag of its own.
Input:   a program; the size of the data; the number of pipeline chunks.
Output:  messages with their bytes, and what each requires.
Cost:    linear in transfers, dependencies and pipeline chunks.
Source:  ours; the rules of ``forestcoll simulate``. All data are cut into equal pipeline chunks,
         and each goes through the whole schedule. So a pipeline chunk of a transfer needs the same
         pipeline chunk of its dependencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.partition import Partition
from forestcoll.schedule.program import Program

__all__ = ["Message", "MessageOptions", "Messages"]

_MOST_BYTES = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """What exports to all simulators let one choose.

    Parameters
    ----------
    size_bytes : int
        Size of the data, as nccl-tests define it; 1 MiB by default.
    gamma_s_per_gb : Fraction or int
        Seconds in which a GPU adds a gigabyte.
    alpha_us : Fraction or int
        Microseconds of every hop from GPU to GPU, in addition to the latencies of its links. It
        enters the file of the network only.
    pipeline_chunks : int
        Messages that each transfer is cut into.

    Raises
    ------
    ExportError
        If a number is below or above what the simulators take.
    """

    size_bytes: int = 2**20
    gamma_s_per_gb: Fraction | int = 0
    alpha_us: Fraction | int = 10
    pipeline_chunks: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.size_bytes <= _MOST_BYTES:
            raise ExportError(f"the size is {self.size_bytes} bytes; simulators take 1 to 2^63 - 1")
        if self.gamma_s_per_gb < 0:
            raise ExportError(f"gamma is {self.gamma_s_per_gb} s/GB; adding takes 0 or more")
        if self.alpha_us < 0:
            raise ExportError(f"alpha is {self.alpha_us} us; a latency is 0 or more")


@dataclass(frozen=True, slots=True)
class Message:
    """A pipeline chunk of a transfer.

    Parameters
    ----------
    tag : int
        Its number: that of the transfer times the pipeline chunks, plus that of the chunk.
    tail, head : int
        Ranks of its sender and receiver.
    path : int
        The path of the transfer.
    size_bytes : int
        From 1 up.
    adds : bool
        Whether the receiver adds it.
    needs : tuple of int
        Tags of the messages that must have arrived, and been added, before it leaves.
    behind : int or None
        Tag of the pipeline chunk before it, of the same transfer.
    """

    tag: int
    tail: int
    head: int
    path: int
    size_bytes: int
    adds: bool
    needs: tuple[int, ...]
    behind: int | None


class Messages:
    """The messages of a program, rank by rank.

    Borders between units are rounded down to whole bytes; transfers without any byte are left out.

    Raises
    ------
    UnsupportedError
        If a switch multicasts or reduces, which no rank of a simulator does.
    InvalidParameterError
        If the number of pipeline chunks is less than one.
    ExportError
        If a transfer has bytes, but fewer than there are pipeline chunks.
    """

    def __init__(self, program: Program, size_bytes: int, pipeline_chunks: int = 1) -> None:
        if pipeline_chunks < 1:
            raise InvalidParameterError(
                f"the data cannot be cut into {pipeline_chunks} pipeline chunks; take 1 or more"
            )
        self.program = between_gpus(program)
        self.pipeline_chunks = pipeline_chunks
        self._bytes = Partition(self.program, size_bytes).lengths()
        for transfer, amount in enumerate(self._bytes):
            if 0 < amount < pipeline_chunks:
                raise ExportError(
                    f"transfer {transfer} has {amount} bytes, fewer than {pipeline_chunks} "
                    "pipeline chunks; take fewer, or more data"
                )
        self._columns = [
            column.tolist()
            for column in (
                self.program.tail, self.program.head, self.program.path, self.program.reduce,
            )
        ]  # fmt: skip

    @property
    def count(self) -> int:
        """One more than the largest tag that a message may have."""
        return self.program.num_transfers * self.pipeline_chunks

    def by_rank(self) -> Iterator[list[Message]]:
        """Yield the messages that each rank sends or receives, by their tags."""
        involved: list[list[int]] = [[] for _ in range(self.program.topology.num_compute)]
        tail, head, _, _ = self._columns
        for transfer, amount in enumerate(self._bytes):
            if amount:
                involved[tail[transfer]].append(transfer)
                involved[head[transfer]].append(transfer)
        for transfers in involved:
            yield [message for transfer in transfers for message in self._of(transfer)]

    def _of(self, transfer: int) -> Iterator[Message]:
        tail, head, path, adds = (column[transfer] for column in self._columns)
        needs = [n for n in self.program.dependencies(transfer).tolist() if self._bytes[n]]
        first, amount = transfer * self.pipeline_chunks, self._bytes[transfer]
        for chunk in range(self.pipeline_chunks):
            begin, end = (amount * place // self.pipeline_chunks for place in (chunk, chunk + 1))
            yield Message(
                tag=first + chunk,
                tail=tail,
                head=head,
                path=path,
                size_bytes=end - begin,
                adds=adds,
                needs=tuple(need * self.pipeline_chunks + chunk for need in needs),
                behind=first + chunk - 1 if chunk else None,
            )
