"""Export to Python modules for nccl4py and torch.distributed.

Problem: stock NCCL has no format of schedules, but grouped sends and receives that can follow one.
Input:   a program.
Output:  a Python module: a table of transfers, and the code that runs it at one rank.
Cost:    linear in transfers and dependencies.
Source:  nccl4py 0.6 (``nccl.core``: ``group_start``, ``group_end``, and ``send``, ``recv``,
         ``put_signal``, ``signal`` and ``wait_signal`` of a communicator);
         ``torch.distributed.batch_isend_irecv``; NCCL's user guide, "Point-to-point communication":
         messages of a group progress together, in order between two ranks.

The code is that of :mod:`forestcoll.runtimes.python_modules.rank_run` and of one library's
communicator, copied as it stands. So the tests of these files test the modules too.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.data_layout import Layout, layout_of, with_own_parts
from forestcoll.runtimes.python_modules import (
    over_nccl_groups,
    over_nccl_puts,
    over_torch_groups,
    rank_run,
)
from forestcoll.runtimes.python_modules.rank_run import Transfer
from forestcoll.runtimes.transfer_pieces import Piece, in_units, pieces_of
from forestcoll.schedule.program import Program

__all__ = ["Nccl4pyOptions", "PythonModule", "TorchOptions", "python_module"]

_MOST_TRANSFERS = 200_000
_WIDTH = 96


def _check_chunks(chunks: int) -> None:
    if chunks < 1:
        raise InvalidParameterError(f"pipeline_chunks is {chunks}; it must be 1 or more")


@dataclass(frozen=True, slots=True)
class TorchOptions:
    """Options of a module for torch.distributed.

    Parameters
    ----------
    pipeline_chunks : int
        Equal parts of every transfer; each part is sent one step after the one before it.
    """

    pipeline_chunks: int = 1

    def __post_init__(self) -> None:
        _check_chunks(self.pipeline_chunks)


@dataclass(frozen=True, slots=True)
class Nccl4pyOptions:
    """Options of a module for nccl4py.

    Parameters
    ----------
    pipeline_chunks : int
        Equal parts of every transfer; each part is sent one step after the one before it.
    puts : bool
        Whether ranks put data into each other's memory and signal, instead of sends and receives.
    """

    pipeline_chunks: int = 1
    puts: bool = False

    def __post_init__(self) -> None:
        _check_chunks(self.pipeline_chunks)


@dataclass(frozen=True, slots=True)
class PythonModule:
    """A written module.

    Parameters
    ----------
    steps : int
        Groups of sends and receives, one after another.
    messages : int
        Most messages that a rank sends and receives in one step.
    """

    text: str
    transfers: int
    steps: int
    messages: int


@dataclass(frozen=True, slots=True)
class _Library:
    name: str
    files: tuple[ModuleType, ...]
    use: str
    step: str
    run: str = "run_schedule"
    main: str = ""


_GROUP = "one group of sends and receives"
_TORCH = _Library("torch.distributed", (over_torch_groups,), "TorchCommunicator()", _GROUP)
_NCCL = _Library("nccl4py", (over_nccl_groups,), "NcclCommunicator(communicator)", _GROUP)
_PUTS = _Library(
    "nccl4py",
    (over_nccl_groups, over_nccl_puts),
    "NcclPutCommunicator(communicator)",
    "one group of puts with signals, for which the receivers wait",
    "run_with_puts",
    ", run_with_puts, NcclPutCommunicator",
)

_GIVEN = {
    "allgather": "its share; the result is all shares in the order of ranks",
    "reduce-scatter": "a buffer of equal shares; the result is the sum of its own share",
    "allreduce": "a buffer; the result is the sum of all buffers",
    "broadcast": "a buffer, of which only the root's counts; the result is the root's",
    "reduce": "a buffer; the result is the sum of all buffers at the root, empty elsewhere",
    "all-to-all": "one slot for each rank, all of one length; the result has one from each rank",
}


def python_module(program: Program, options: TorchOptions | Nccl4pyOptions) -> PythonModule:
    """Write a program as a module.

    Raises
    ------
    UnsupportedError
        If the GPUs have unequal shares, or a switch multicasts or reduces.
    ExportError
        If there is nothing to send, or too much for a readable table.
    """
    program = with_own_parts(between_gpus(program))
    pieces = pieces_of(program)
    many = len(pieces) * options.pipeline_chunks
    if not 0 < many <= _MOST_TRANSFERS:
        raise ExportError(
            f"the module would have {many} transfers, and 1 to {_MOST_TRANSFERS} are possible; "
            "take fewer trees per GPU, fewer pipeline chunks or a smaller network"
        )
    layout = layout_of(program, pieces)
    rows = _rows(in_units(pieces, layout.unit), layout)
    rows = [part for row in rows for part in _parts(row, options.pipeline_chunks)]
    steps = {one.step for one in rows}
    return PythonModule(
        text=_text(program, layout, rows, options),
        transfers=len(rows),
        steps=len(steps),
        messages=_most_messages(rows),
    )


def _rows(pieces: Sequence[Piece], layout: Layout) -> list[Transfer]:
    actions = _actions(pieces, layout)
    rows = []
    for number, piece in enumerate(pieces):
        begin = _first_unit(piece, layout)
        ends = begin, begin + piece.size
        row = (number, piece.step, piece.tail, piece.head, *ends, actions[number], piece.needs)
        rows.append(Transfer(*row))
    return rows


def _parts(row: Transfer, chunks: int) -> Iterator[Transfer]:
    """Divide a transfer and its needs into pipeline chunks, a step apart."""
    size = row.end - row.begin
    for chunk in range(chunks):
        begin = row.begin * chunks + chunk * size
        yield row._replace(
            number=row.number * chunks + chunk,
            step=row.step + chunk,
            begin=begin,
            end=begin + size,
            needs=tuple(need * chunks + chunk for need in row.needs),
        )


def _first_unit(piece: Piece, layout: Layout) -> int:
    """Return where a piece begins in the data of all ranks."""
    begin = layout.base[piece.chunk] + piece.first
    if layout.collective != "all-to-all":
        return begin
    # ``base`` is the offset at the receiver; the data of all ranks are their inputs.
    root, target = layout.root[piece.chunk], layout.target[piece.chunk]
    return begin + (target - root) * layout.shard + root * layout.whole


def _actions(pieces: Sequence[Piece], layout: Layout) -> list[str]:
    """Return what the receiver of each piece does with it."""
    actions = ["pass-add" if piece.adds else "pass" for piece in pieces]
    came = defaultdict[tuple[int, tuple[int, int]], list[int]](list)
    for number, piece in enumerate(pieces):
        if layout.result(piece.head, piece.chunk) is not None:
            came[piece.head, piece.place].append(number)
    for numbers in came.values():
        # A piece that replaces the data hides all earlier ones.
        last = max((n for n in numbers if not pieces[n].adds), default=-1)
        kept = [n for n in numbers if n >= last]
        for number in kept:
            actions[number] = "add" if pieces[number].adds else "copy"
        if len(kept) == 1 and not pieces[kept[0]].adds:
            actions[kept[0]] = "place"
    return actions


def _most_messages(rows: Sequence[Transfer]) -> int:
    counts = defaultdict[tuple[int, int], int](int)
    for row in rows:
        for rank in (row.sender, row.receiver):
            counts[row.step, rank] += 1
    return max(counts.values())


def _text(
    program: Program,
    layout: Layout,
    rows: Sequence[Transfer],
    options: TorchOptions | Nccl4pyOptions,
) -> str:
    library = _library(options)
    units = layout.whole * (layout.gpus if program.collective == "all-to-all" else 1)
    units *= options.pipeline_chunks
    root = layout.root[0] if program.collective in ("broadcast", "reduce") else -1
    codes = [_code(module) for module in (rank_run, *library.files)]
    imports = _import_lines([one for found, _ in codes for one in found])
    schedule = (
        f'SCHEDULE = Schedule("{program.collective}", {layout.gpus}, {root}, {units}, '
        "read_transfers(TRANSFERS))"
    )
    head = [
        _docstring(program, layout, library),
        "from __future__ import annotations",
        "\n".join(imports),
        _table(rows),
    ]
    run = _RUN.replace("RUN", library.run).replace("MAIN", library.main)
    body = [*(code for _, code in codes), schedule, run]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(one.strip("\n") for one in body) + "\n"


def _library(options: TorchOptions | Nccl4pyOptions) -> _Library:
    if isinstance(options, TorchOptions):
        return _TORCH
    return _PUTS if options.puts else _NCCL


def _docstring(program: Program, layout: Layout, library: _Library) -> str:
    names = [program.topology.nodes[gpu].name for gpu in program.topology.compute]
    paragraphs = [
        f"Runs the {program.collective} of {program.method} on {program.topology.name}, for "
        f"{layout.gpus} ranks of {library.name}.",
        f"A rank gives {_GIVEN[program.collective]}. Its result is a new array:",
        f"    result = run(given, {library.use})",
        f"Any number of elements and any type will do. Every step is {library.step}, and ranks go "
        "through all steps in one order. So no rank waits in a cycle.",
        "NCCL adds nothing up in sends and receives. Sums are additions of whole arrays, of their "
        "own kernels, before the step that sends them on. So a step costs the start of a group and "
        "of these kernels. Time this module for what "
        "the order of transfers is worth, not for the rate of a runtime that executes schedules.",
        "torchrun --nproc-per-node N THIS_FILE ELEMENTS runs it once and checks the results.",
        "Ranks are the GPUs " + ", ".join(names) + ", in this order.",
    ]
    filled = [
        one if one.startswith("    ") else textwrap.fill(one, _WIDTH, break_long_words=False)
        for one in paragraphs
    ]
    text = "\n\n".join(filled).replace("\\", "\\\\").replace('"', "'")
    return f'"""{text}\n"""'


def _table(rows: Sequence[Transfer]) -> str:
    heads = ("number", "step", "sender", "receiver", "begin", "end", "action", "needs")
    cells = [(*map(str, row[:7]), " ".join(map(str, row.needs))) for row in rows]
    widths = [max(len(line[column]) for line in (heads, *cells)) for column in range(7)]
    lines = [
        f"{mark} {'  '.join(map(str.rjust, line[:7], widths))}  {line[7]}".rstrip()
        for mark, line in (("#", heads), *((" ", line) for line in cells))
    ]
    return 'TRANSFERS = """\n' + "\n".join(lines) + '\n"""'


def _code(module: ModuleType) -> tuple[list[ast.stmt], str]:
    """Return a module's imports of the standard library, and its code below all imports."""
    source = inspect.getsource(module)
    imports: list[ast.stmt] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom)
            and str(node.module).split(".")[0] not in ("__future__", "forestcoll")
        ):
            imports.append(node)
        elif not isinstance(node, ast.ImportFrom) and not _is_docstring_or_names(node):
            return imports, "\n".join(source.splitlines()[node.lineno - 1 :])
    raise AssertionError("a file to be copied has no code")


def _import_lines(imports: Sequence[ast.stmt]) -> list[str]:
    """Join the imports of several files, in the usual order."""
    whole = {ast.unparse(node) for node in imports if isinstance(node, ast.Import)}
    names = defaultdict[str, set[str]](set)
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            names[str(node.module)] |= {alias.name for alias in node.names}
    some = [f"from {home} import {', '.join(sorted(names[home]))}" for home in sorted(names)]
    return [*sorted(whole), *some]


def _is_docstring_or_names(node: ast.stmt) -> bool:
    names = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    return names or isinstance(node, ast.Expr)


_RUN = '''
def run(given: Any, communicator: Any) -> Any:
    """Run the collective at this rank and return its result."""
    return RUN(SCHEDULE, given, communicator)


if __name__ == "__main__":
    main(SCHEDULEMAIN)
'''
