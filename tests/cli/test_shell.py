"""Whatever goes wrong is one line and an exit code, never a traceback."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from forestcoll import cli
from forestcoll.cli.shell import ABOVE, CORE, OwnCommand, summary
from forestcoll.topology.exporters import file_exports
from tests.command_line import assert_one_line, assert_refused, invoke

GOOD = """\
name: pair
nodes: [{name: a, kind: compute}, {name: b, kind: compute}]
links: [{from: a, to: b, bandwidth_gb_s: 1, both: true}]
"""


MALFORMED = {
    "empty": ("", "the file is empty"),
    "not a mapping": ("- 1\n- 2\n", "line 1: the file is [1, 2]; it must be a mapping"),
    "broken YAML": ("nodes: [", "line 2: not valid YAML"),
    "unknown key": (GOOD + "speed: 3\n", "line 4: speed is not a field of this format"),
    "no links": ("name: x\nnodes: [{name: a, kind: compute}]\n", "links is missing; add it"),
    "unknown kind": (GOOD.replace("compute", "router", 1), "nodes[0].kind is 'router'"),
    "repeated name": (
        GOOD.replace("name: b", "name: a"),
        "nodes[1].name is 'a', as is nodes[0].name",
    ),
    "unknown node": (GOOD.replace("to: b", "to: c"), "links[0].to is 'c', which is not a node"),
    "self-loop": (GOOD.replace("to: b", "to: a"), "where the link comes from"),
    "zero bandwidth": (GOOD.replace("s: 1", "s: 0"), "bandwidth_gb_s is 0; it must be positive"),
    "negative bandwidth": (
        GOOD.replace("s: 1", "s: -2"),
        "bandwidth_gb_s is -2; it must be positive",
    ),
    "bandwidth in words": (GOOD.replace("s: 1", "s: fast"), "'fast', which is not a number"),
    "endless bandwidth": (GOOD.replace("s: 1", f"s: {'9' * 300}"), "below 1e100"),
    "vanishing bandwidth": (GOOD.replace("s: 1", f"s: 1/{'9' * 300}"), "at least 1e-100"),
    "one way only": (
        GOOD.replace("both: true", "both: false"),
        "GPU 'b' cannot reach GPU 'a'; add the missing links",
    ),
    "one GPU": (
        "name: x\nnodes: [{name: a, kind: compute}, {name: s, kind: switch}]\n"
        "links: [{from: a, to: s, bandwidth_gb_s: 1, both: true}]\n",
        "at least 2",
    ),
}


@pytest.mark.parametrize("fault", MALFORMED)
@pytest.mark.parametrize("command", ["show", "optimum"])
def test_a_malformed_file_ends_with_code_2(fault: str, command: str, tmp_path: Path) -> None:
    """Whoever reads it: no traceback, the file or the fault named."""
    content, message = MALFORMED[fault]
    path = tmp_path / "cluster.yaml"
    path.write_text(content)
    arguments = ("topology", "show", path) if command == "show" else ("optimum", path)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert_one_line(result.stderr, message)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dgx_a200:boxes=4", "did you mean"),
        ("dgx_a100", "needs boxes"),
        ("dgx_a100:boxes=four", "'four'"),
        ("dgx_a100:boxes=0", "whole number from 1"),
        ("dgx_a100:racks=4", "racks"),
        ("dgx_a100:boxes=2,boxes=3", "twice"),
        ("torus:dims=4xx4", "4xx4"),
        ("ring:nodes=4,bandwidth=-1", "positive"),
        ("nowhere.yaml", "nowhere.yaml"),
        ("", "neither a file nor a topology family"),
    ],
)
def test_a_malformed_specification_is_one_line_and_exit_code_2(spec: str, message: str) -> None:
    """With the remedy, where there is one."""
    assert_refused(message, "optimum", spec)


@pytest.mark.parametrize(
    "command",
    [
        ["topology", "export", "ring:nodes=4"],
        ["topology", "draw", "ring:nodes=4"],
        ["generate", "ring:nodes=4"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_file_that_cannot_be_written_is_one_line_and_exit_code_2(
    command: list[str], tmp_path: Path
) -> None:
    """A file where a directory should be, and the reverse."""
    suffix = {"export": "yaml", "draw": "png"}.get(command[1], "json")
    (tmp_path / f"taken.{suffix}").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / f"x.{suffix}", tmp_path / f"taken.{suffix}"):
        assert_refused(str(path), *command, "-o", path)


@pytest.mark.parametrize(
    ("raised", "exit_code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "x.json"), 2, "x.json: No space left on device"),
        (PermissionError(13, "Permission denied", "x.json"), 2, "x.json: Permission denied"),
        (MemoryError(), 3, "out of memory"),
    ],
    ids=["Ctrl-C", "disk full", "no permission", "no memory"],
)
def test_interruptions_and_full_disks_have_codes(
    raised: BaseException, exit_code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """130 for Ctrl-C, 2 for a file that cannot be written, 3 without memory; one line each."""

    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(file_exports, "export_topology", fail)
    assert_refused(message, "topology", "export", "ring:nodes=4", "-o", "x.json", code=exit_code)


@pytest.mark.parametrize(
    "arguments",
    [["optimise"], ["optimum"], ["generate", "ring:nodes=4"], ["optimum", "--fast", "ring"]],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    """An unknown command, a missing argument or option, an unknown option."""
    assert invoke(*arguments).exit_code == 2


def numeric_options() -> Iterator[tuple[str, Any]]:
    """Yield the options of all commands that take numbers, and their greatest values."""
    root = typer.main.get_command(cli.app)
    context = root.make_context("forestcoll", ["schema"], resilient_parsing=True)

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "list_commands"):
            for one in command.list_commands(context):
                yield from walk(command.get_command(context, one), f"{name} {one}".strip())
            return
        for parameter in command.params:
            if parameter.type.name.startswith(("int", "float")):
                yield f"{name} {parameter.opts[0]}", getattr(parameter.type, "max", None)

    yield from walk(root, "")


def test_every_number_on_the_command_line_has_an_upper_bound() -> None:
    """Of every command, those of other packages, too."""
    found = dict(numeric_options())
    assert {
        "generate --k",
        "exec --pipeline-chunks",
        "run --jobs",
        "tune --seconds",
    } <= found.keys()
    assert [name for name, greatest in found.items() if greatest is None] == []


@pytest.mark.parametrize(
    "command",
    [
        ["optimum", "ring:nodes=4", "--k", "9" * 5000],
        ["generate", "ring:nodes=4", "-o", "x.json", "--best-k", str(10**12)],
        ["expected", "ring:nodes=4", "--sizes", f"1KB..{10**17}TB"],
        ["expected", "ring:nodes=4", "--sizes", "9" * 5000],
        ["tune", "ring:nodes=4", "--sizes", "9" * 5000],
        ["optimum", f"ring:nodes={10**12}"],
        ["optimum", "dgx_a100:boxes=10**12"],
        ["optimum", f"ring:nodes={'9' * 5000}"],
        ["optimum", f"ring:nodes=4,bandwidth={'9' * 5000}"],
        ["optimum", f"torus:dims={'x'.join(['99999'] * 9)}"],
        ["optimum", "rail_optimized:boxes=100000,gpus_per_box=1024"],
        ["optimum", "ring:nodes=4", "--scale", f"gpu0={'9' * 5000}"],
        ["simulate", "none.json", "--size", "1MB", "--alpha", "9" * 5000],
        ["baselines", "run", "ring", "dgx_a100:boxes=2", "--set", f"rings={10**17}"],
        ["baselines", "run", "ring", "dgx_a100:boxes=2", "--set", f"rings={'9' * 5000}"],
    ],
)
def test_numbers_that_no_machine_has_are_refused_at_once(command: list[str]) -> None:
    """Exit code 2 and no traceback, whether in one line of ours or in the box of the parser."""
    result = invoke(*command)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "rror" in result.stderr


ALL = [*CORE.values(), *ABOVE.values()]


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_help_from_the_source_equals_that_of_the_loaded_command(command: OwnCommand) -> None:
    """Each command of ours, the core's and the other packages'."""
    loaded = command.load()
    reported = loaded.info.help if isinstance(loaded, typer.Typer) else loaded.__doc__
    short = summary(command)
    assert short is not None
    assert short.split() == reported.split()


def test_help_is_found_whatever_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between other statements, over several lines, and with lines of the text at the left."""
    (tmp_path / "laid_out_for_test.py").write_text(
        "import typer\napp = typer.Typer(\n    help='Greet.'\n)\n"
        "def hello(\n    name: str,\n) -> None:\n    'Say hello.'\n    print(name)\n"
        'def left() -> None:\n    """Go,\nas one does."""\nlast = 1\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    due = {"app": "Greet.", "hello": "Say hello.", "left": "Go,\nas one does."}
    assert {name: summary(OwnCommand("x", f"laid_out_for_test:{name}")) for name in due} == due


def test_unknown_values_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another assignment, help that is worked out, no help, a module that is not there."""
    (tmp_path / "silent_for_test.py").write_text(
        "import typer\ntext = 'x'\napp = typer.Typer(help=text)\nbare = typer.Typer()\nmade = app\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("app", "bare", "made", "gone"):
        assert summary(OwnCommand("x", f"silent_for_test:{name}")) is None
    assert summary(OwnCommand("x", "nowhere_for_test:app")) is None
    assert "silent_for_test" not in sys.modules


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("optimun", "ring:nodes=4"), "No such command 'optimun'; did you mean 'optimum'?"),
        (("frobnicate",), "No such command 'frobnicate'; forestcoll --help lists them"),
        (("topology", "shwo", "ring:nodes=4"), "No such command 'shwo'. Did you mean 'show'?"),
        (("topology", "imprt", "x"), "No such command 'imprt'. Did you mean 'import'"),
        (("optimum", "ring:nodes=4", "--colective", "x"), "Possible options: --collective"),
        (("baselines", "run", "rign", "ring:nodes=4"), "no method 'rign'; did you mean ring?"),
        (("optimum", "rign:nodes=4"), "did you mean ring?"),
        (("optimum", "ring:nods=4"), "did you mean nodes?"),
        (("optimum", "ring:nodes=4", "--collective", "allgathr"), "did you mean allgather?"),
        (("baselines", "run", "ring", "ring:nodes=4", "--set", "rigns=2"), "did you mean rings?"),
        (("generate", "ring:nodes=4", "--method", "papper", "-o", "x.json"), "did you mean paper?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest_one(
    arguments: tuple[str, ...], message: str
) -> None:
    """Commands, options, methods, parameters, topologies and collectives."""
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("words", [[], ["topology"]], ids=["all", "group"])
def test_lists_of_commands_show_whole_sentences(words: list[str]) -> None:
    """The first paragraph of each help, wrapped and not cut; a group's later additions, too."""
    listed = " ".join(invoke(*words, "--help").stdout.split())
    commands = ["optimum", "depths"] if not words else ["topology find", "topology rates"]
    for name in commands:
        short = summary(CORE.get(name) or ABOVE[name])
        assert short is not None
        assert " ".join(short.partition("\n\n")[0].split()) in listed
    if words:
        assert "List the families of topologies and their parameters, or those of one." in listed
