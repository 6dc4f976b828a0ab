"""Written modules: run as they are by threads, and their mutants."""

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import (
    ExportError,
    ForestCollError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.runtimes.python_modules import python_module as home
from forestcoll.runtimes.python_modules.lockstep_check import check_module, run_in_lockstep
from forestcoll.runtimes.python_modules.python_module import (
    Nccl4pyOptions,
    TorchOptions,
    python_module,
)
from tests.runtimes.python_modules.in_process import (
    due,
    executed,
    random_given,
    run_in_threads,
)
from tests.schedule.made.flows import ring
from tests.schedule.made.types import schedule as of_type
from tests.schedule.made.weighted import weighted

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")


@cache
def written(collective: str, ranks: int) -> str:
    root = {"root": 3} if collective in ("broadcast", "reduce") else {}
    if collective == "all-to-all":
        made: Any = ring(ranks)
    else:
        made = generate(f"dgx_a100:boxes={ranks // 8}", collective=collective, **root).schedule
    return python_module(compile_program(made), TorchOptions()).text


def is_right(text: str, ranks: int, length: int) -> bool:
    module = executed(text)
    given = random_given(ranks, length)
    found = run_in_threads(module, given)
    wanted = due(module["SCHEDULE"].collective, given, module["SCHEDULE"].root)
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(("ranks", "length"), [(8, 8), (8, 7 * 8), (16, 37 * 16)])
@pytest.mark.each_value_once
def test_modules_give_the_results_of_their_collectives(
    collective: str, ranks: int, length: int
) -> None:
    """8 and 16 ranks, bit for bit, also where units are not whole elements."""
    assert is_right(written(collective, ranks), ranks, length)


@pytest.mark.parametrize("collective", ["allgather", "allreduce", "broadcast"])
def test_pipeline_chunks_are_sent_a_step_apart(collective: str) -> None:
    """A transfer of three chunks is three rows; all steps are two more."""
    root = {"root": 0} if collective == "broadcast" else {}
    program = compile_program(generate("ring:nodes=5", collective=collective, **root).schedule)
    whole, parts = (python_module(program, TorchOptions(many)) for many in (1, 3))
    assert (parts.transfers, parts.steps) == (3 * whole.transfers, whole.steps + 2)
    for length in (5, 35):
        assert is_right(parts.text, 5, length)
    rows = executed(parts.text)["SCHEDULE"].transfers
    first, second = rows[0], rows[1]
    assert (second.step, second.begin) == (first.step + 1, first.end)
    assert all(rows[need].step < one.step for one in rows.values() for need in one.needs)
    assert not any(map(_is_accepted, mutants(parts.text)))


def test_chunks_are_counted() -> None:
    for options in (TorchOptions, Nccl4pyOptions):
        with pytest.raises(InvalidParameterError, match="pipeline_chunks is 0; it must be 1 or"):
            options(pipeline_chunks=0)


TYPES = ("allreduce of forests", "step schedule of intervals", "step schedule with a clock")


@pytest.mark.parametrize("name", [*TYPES, "step schedule of sums", "flow schedule"])
def test_schedules_of_other_types_run_too(name: str) -> None:
    program = compile_program(of_type(name), loopback=False)
    gpus = program.topology.num_compute
    assert is_right(python_module(program, TorchOptions()).text, gpus, 5 * gpus)


def lines_of(text: str) -> list[str]:
    table = re.search(r'TRANSFERS = """\n(.*?)\n"""', text, re.DOTALL)
    assert table is not None
    return table[1].splitlines()[1:]


def mutants(text: str) -> list[str]:
    """Modules with one transfer dropped, moved, sent to another place, or applied otherwise."""
    lines = lines_of(text)
    made = []
    for place in range(0, len(lines), max(1, len(lines) // 6)):
        line, words = lines[place], lines[place].split()
        number, step, sender, receiver, begin, end, action, *needs = words
        other = lines[(place + 1) % len(lines)].split()
        for changed in (
            "",
            " ".join([number, step, sender, other[3], begin, end, action, *needs]),
            " ".join([number, step, sender, receiver, *other[4:6], action, *needs]),
            " ".join([number, step, sender, receiver, begin, end, _other(action), *needs]),
            " ".join([number, step, sender, receiver, begin, end, action]),
        ):
            if changed.split() != words:
                made.append(text.replace(f"\n{line}\n", f"\n{changed}\n"))
    return made


def _other(action: str) -> str:
    return {"add": "copy", "place": "pass", "pass-add": "pass", "pass": "pass-add"}[action]


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_mutant_is_found_wrong(collective: str) -> None:
    """By the check before a module is written, in which a receive without its send ends."""
    text = written(collective, 8)
    found = [_is_accepted(mutant) for mutant in mutants(text)]
    assert len(found) > 15
    assert not any(found)


def _is_accepted(text: str) -> bool:
    try:
        check_module(text)
    except (VerificationError, KeyError, ValueError):
        return False
    return True


def test_a_send_that_one_rank_drops_ends_the_run() -> None:
    """Rank 0 forgets its first send; its peer waits, and the others end."""
    module = executed(written("allgather", 8))
    exchanges = module["RankRun"].exchanges

    def forgetful(call: Any) -> Any:
        for sends, receives in exchanges(call):
            yield sends[1:] if call._rank == 0 else sends, receives

    module["RankRun"].exchanges = forgetful
    calls = [
        module["RankRun"](module["SCHEDULE"], rank, np.arange(8), lambda n: np.zeros(n, dtype=int))
        for rank in range(8)
    ]
    with pytest.raises(VerificationError, match=r"rank \d waits for a message of rank 0 that"):
        run_in_lockstep([call.exchanges() for call in calls])


def test_a_module_says_what_it_is() -> None:
    """Steps, no sums in kernels, the order of ranks, and how to run it."""
    program = compile_program(generate("ring:nodes=3", collective="allreduce").schedule)
    found = python_module(program, Nccl4pyOptions())
    text = executed(found.text)["__doc__"]
    for words in (
        "Runs the allreduce of forestcoll on ring:nodes=3, for 3 ranks of nccl4py.",
        "NCCL adds nothing up in sends and receives.",
        "result = run(given, NcclCommunicator(communicator))",
        "GPUs gpu0, gpu1, gpu2",
    ):
        assert words in text
    assert found.transfers == len(lines_of(found.text))
    assert found.steps == len({line.split()[1] for line in lines_of(found.text)})
    assert found.messages == 4


def test_a_module_with_puts_says_so() -> None:
    program = compile_program(generate("ring:nodes=3", collective="allreduce").schedule)
    text = executed(python_module(program, Nccl4pyOptions(puts=True)).text)["__doc__"]
    assert "result = run(given, NcclPutCommunicator(communicator))" in text
    assert "one group of puts with signals" in " ".join(text.split())


def test_names_cannot_end_the_docstring() -> None:
    program = compile_program(generate("ring:nodes=3").schedule)
    object.__setattr__(program, "method", 'a"""\\')
    assert (
        "Runs the allgather of a'''\\"
        in executed(python_module(program, TorchOptions()).text)["__doc__"]
    )


def refused(program: Any, kind: type[ForestCollError], message: str) -> None:
    with pytest.raises(kind, match=message):
        python_module(program, TorchOptions())


def test_what_has_no_sends_between_gpus_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refused(compile_program(of_type("multicast forest")), UnsupportedError, "multicasts data")
    refused(compile_program(weighted("allgather")), UnsupportedError, "equal shares")
    monkeypatch.setattr(home, "_MOST_TRANSFERS", 5)
    refused(compile_program(ring(4)), ExportError, "24 transfers, and 1 to 5 are possible")
