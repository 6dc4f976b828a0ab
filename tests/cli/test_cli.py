"""The command line: what it prints, what it writes, and what it is made of."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
import typer

from forestcoll import cli
from forestcoll.cli import shell
from forestcoll.topology import write_topology
from tests.command_line import ROOT, assert_one_line, assert_refused, invoke, process
from tests.lp.networks import one_way_detour

# --- the command as a whole ---------------------------------------------------------------------


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of this package, each with its whole name."""
    plugins = {entry.name for entry in entry_points(group="forestcoll.commands")} | set(shell.ABOVE)
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    for name in names:
        if path or name not in plugins:
            yield from leaves(command.get_command(None, name), f"{path} {name}".strip())
    if not names:
        yield path, command


COMMANDS = dict(leaves(typer.main.get_command(cli.app)))


def test_the_commands_are_these() -> None:
    """The core's own; others are of the packages above, or come by entry points."""
    assert set(COMMANDS) == {
        "topology list",
        "topology show",
        "topology export",
        "topology draw",
        "topology find",
        "topology import",
        "topology rates",
        "topology channels",
        "replan",
        "whatif",
        "certificate",
        "optimum",
        "generate",
        "depths",
        "verify",
        "diff",
        "simulate",
        "draw",
        "check-plan",
        "exec",
        "check-xml",
        "score",
        "export",
        "schema",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(name: str) -> None:
    """A sentence for people, --json for machines, a word on each option."""
    command = COMMANDS[name]
    assert command.help.endswith(".")
    assert "--json" in [option for each in command.params for option in each.opts]
    assert all(each.help for each in command.params)
    assert invoke(*name.split(), "--help").exit_code == 0


def test_other_packages_add_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point is loaded when it is asked for, listed in the help, and fails as we do."""
    (tmp_path / "greetings_for_test.py").write_text(
        "from forestcoll.errors import InfeasibleError\n"
        "def hello(name: str) -> None:\n"
        "    '''Greet.'''\n"
        "    if name == 'nobody':\n"
        "        raise InfeasibleError('there is nobody to greet')\n"
        "    print(f'hello {name}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("hello", "greetings_for_test:hello", "forestcoll.commands")
    monkeypatch.setattr(shell, "_plugins", lambda: {"hello": entry})
    assert invoke("optimum", "ring:nodes=4").exit_code == 0
    assert "greetings_for_test" not in sys.modules
    assert invoke("hello", "world").stdout == "hello world\n"
    assert "Greet." in invoke("--help").stdout
    assert_refused("there is nobody to greet", "hello", "nobody", code=3)
    assert invoke("hello").exit_code == 2


def test_packages_add_command_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point may be a typer.Typer: its subcommands follow its name, errors are ours."""
    (tmp_path / "greetings_in_two_ways.py").write_text(
        "import typer\n"
        "from forestcoll.errors import InfeasibleError\n"
        "app = typer.Typer(help='Greet or part.')\n"
        "@app.command()\n"
        "def hello(name: str) -> None:\n"
        "    print(f'hello {name}')\n"
        "@app.command()\n"
        "def goodbye() -> None:\n"
        "    raise InfeasibleError('you can never leave')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("greet", "greetings_in_two_ways:app", "forestcoll.commands")
    monkeypatch.setattr(shell, "_plugins", lambda: {"greet": entry})
    assert invoke("greet", "hello", "world").stdout == "hello world\n"
    assert "Greet or part." in invoke("--help").stdout
    assert "goodbye" in invoke("greet", "--help").stdout
    assert_refused("you can never leave", "greet", "goodbye", code=3)
    assert invoke("greet", "goodnight").exit_code == 2


_WITHOUT_METADATA = """
import contextlib, importlib.metadata as metadata, io, json, sys
metadata.MetadataPathFinder.find_distributions = classmethod(lambda *_: [])
assert not metadata.entry_points()
from forestcoll.__main__ import main
found = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["forestcoll", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code or 0
    found.append([code, out.getvalue()])
print(json.dumps(found))
"""


def _without_metadata(*commands: list[str]) -> list[str]:
    """Return the output of each command, all of one process; each must end well."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_METADATA, json.dumps(commands)],
        cwd=ROOT, text=True, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    codes, outputs = zip(*json.loads(done.stdout), strict=True)
    assert set(codes) == {0}, done.stderr
    return list(outputs)


def test_all_commands_are_there_without_installed_metadata(tmp_path: Path) -> None:
    """As in a checkout that was never installed; the schedule is the allreduce program's."""
    network, file = str(tmp_path / "network.yaml"), str(tmp_path / "schedule.json")
    write_topology(one_way_detour(), Path(network))
    listed, below, made, _ = _without_metadata(
        ["--help"],
        ["topology", "--help"],
        ["generate", network, "--collective", "allreduce", "-o", file, "--json"],
        ["allreduce-optimum", network],
    )
    names = {name.partition(" ")[0] for name in (*shell.CORE, *shell.ABOVE)}
    assert all(f" {name} " in listed for name in names)
    assert " find " in below
    answer = json.loads(made)
    assert answer["made_by"] == "allreduce program"
    assert answer["optimal"] is True


@pytest.mark.parametrize("name", shell.ABOVE)
def test_commands_of_the_packages_above_can_be_loaded(name: str) -> None:
    """The table names modules that this package does not import."""
    loaded = shell.ABOVE[name].load()
    assert isinstance(loaded, typer.Typer) or callable(loaded)


_SLOW_TO_LOAD = {
    *("email", "highspy", "importlib.metadata", "matplotlib", "networkx", "pydantic", "rich"),
    *("scipy", "yaml", "baselines", "experiments", "lp", "forestcoll.schedule"),
}
"""Modules that a plain command does not need."""


def test_a_plain_command_prints_json_and_loads_only_what_it_needs() -> None:
    """The whole way, with one JSON document on stdout; the start of a command counts."""
    code = (
        "import atexit, os, sys\n"
        "os.environ.pop('OPENBLAS_NUM_THREADS', None)\n"
        "tell = lambda: print(os.environ['OPENBLAS_NUM_THREADS'], *sys.modules, file=sys.stderr)\n"
        "atexit.register(tell)\n"
        "from forestcoll.__main__ import main\n"
        "main()"
    )
    done = process("optimum", "paper_example", "--json", code=code)
    assert done.returncode == 0
    assert json.loads(done.stdout)["inverse_rate"] == {"exact": "1", "value": 1.0}
    threads, *loaded = done.stderr.split()
    assert threads == "1"  # of linear algebra, whose threads take a third of the start
    assert _SLOW_TO_LOAD.isdisjoint(loaded)


def test_a_failure_is_one_line_in_a_real_process() -> None:
    """No traceback, exit code 2."""
    done = process("optimum", "dgx_a100:boxes=zero")
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done.stderr, "'zero'")


def test_the_version_is_printed() -> None:
    """That of the installed distribution, if there is one."""
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("forestcoll")


def test_a_real_ctrl_c_is_130() -> None:
    """SIGINT in the middle of the work."""
    code = (
        "import os, signal, time\n"
        "from forestcoll import cli\n"
        "def work(*_, **__):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(30)\n"
        "from forestcoll.cli import optima\n"
        "optima.optimum = work\n"
        "cli.main()"
    )
    done = process("optimum", "ring:nodes=4", code=code)
    assert done.returncode == 130
    assert_one_line(done.stderr, "interrupted")


CORE = "forestcoll.core.optimality"


@pytest.mark.parametrize(
    "moment",
    [
        *("forestcoll.cli", "typer.main", "forestcoll.cli.shell", "numpy._core.multiarray"),
        *("forestcoll.topology.families", "forestcoll.native._core"),
        *(
            pytest.param(moment, marks=pytest.mark.slow)
            for moment in ("forestcoll.cli.optima", "numpy", CORE)
        ),
    ],
)
def test_ctrl_c_while_the_command_line_loads_is_130(moment: str) -> None:
    """SIGINT in an import of the first second: one line, no traceback."""
    code = (
        "import os, signal, sys, time\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {moment!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            time.sleep(30)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from forestcoll.__main__ import main\n"
        "main()"
    )
    done = process("optimum", "ring:nodes=4", code=code)
    assert done.returncode == 130
    assert_one_line(done.stderr, "interrupted")


def test_a_closed_pipe_is_no_error() -> None:
    """`forestcoll topology list | true`: quiet."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "forestcoll", "topology", "list"],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_stdout_is_one_line() -> None:
    """Also when Python flushes once more at its exit."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "forestcoll", "topology", "list"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
            text=True,
        )
    assert done.returncode == 2
    assert_one_line(done.stderr, "No space left")


@pytest.mark.first_rows(8)
def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command has loaded at its end; it must print to stdout only."""
    code = (
        "import sys\n"
        "from forestcoll.__main__ import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = process(*arguments, code=code)
    assert done.returncode == 0
    assert done.stdout
    loaded = done.stderr.splitlines()
    assert not [line for line in loaded if " " in line], "a message among the modules"
    return set(loaded)


@pytest.mark.parametrize(
    ("arguments", "without"),
    [
        (
            ["--help"],
            {"numpy", "rich", "networkx", "baselines", "lp", "experiments", "forestcoll.topology"},
        ),
        (["generate", "--help"], {"rich", "yaml", "forestcoll.generation", "forestcoll.schedule"}),
        (["verify", "--help"], {"rich", "forestcoll.schedule", "forestcoll.runtimes"}),
        (["tune", "--help"], {"rich", "forestcoll.schedule", "forestcoll.core", "baselines"}),
        (["topology", "show", "ring:nodes=4"], {"rich", "forestcoll.topology.importers"}),
        (
            ["expected", "dgx_a100:boxes=1"],
            {
                *("rich", "yaml", "forestcoll.all_to_all", "forestcoll.bounded_depth"),
                *("forestcoll.cut_over_time", "forestcoll.topology.importers"),
                *("forestcoll.schedule.files", "forestcoll.core.paper"),
            },
        ),
        (
            ["expected", "dgx_a100:boxes=2", "--collective", "all-to-all"],
            {
                *("rich", "yaml", "forestcoll.generation", "forestcoll.core.pipeline"),
                *("forestcoll.cut_over_time", "forestcoll.all_to_all.program_flow"),
                "forestcoll.schedule.verification.trees.forest",
            },
        ),
        (
            ["expected", "torus:dims=4x4", "--collective", "allreduce"],
            {"rich", "yaml", "forestcoll.all_to_all", "forestcoll.allreduce.allreduce_program"},
        ),
        (["baselines", "--help"], {"rich"}),
        (["optimum", "dgx_a100:boxes=2"], {"rich", "yaml", "forestcoll.schedule", "baselines"}),
        (["topology", "list"], {"networkx", "yaml", "forestcoll.schedule", "rich.progress"}),
        (["topology", "--help"], {"rich", "forestcoll.topology.importers", "experiments"}),
        (["simulate", "--help"], {"rich", "forestcoll.schedule.verification", "forestcoll.core"}),
        (["depths", "--help"], {"rich", "forestcoll.schedule", "forestcoll.bounded_depth"}),
        (["replan", "--help"], {"rich", "forestcoll.schedule", "forestcoll.what_if"}),
        (["topology", "import", "--help"], {"rich", "forestcoll.topology.importers"}),
        (["reproduction", "--help"], {"yaml", "forestcoll.core", "baselines"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_loads_only_its_own_modules(arguments: list[str], without: set[str]) -> None:
    """Nothing of what the others use; none of them what takes a second and more to import."""
    heavy = {"matplotlib", "pandas", "pyarrow", "ortools", "highspy", "cvxpy", "scipy"}
    assert loaded_by(*arguments).isdisjoint(without | heavy)


def test_an_allreduce_by_small_programs_loads_no_scipy() -> None:
    loaded = loaded_by("expected", "nvl72:racks=2,gpus_per_rack=18")
    assert {"highspy", "forestcoll.in_network.mixture_program"} <= loaded
    assert "scipy" not in loaded


def test_an_all_to_all_by_a_program_loads_what_it_needs_of_scipy() -> None:
    """Sparse matrices, but neither searches on graphs nor linear algebra."""
    loaded = loaded_by("expected", "tpu_v5e:dims=4x4", "--collective", "all-to-all")
    assert {"scipy.sparse", "highspy"} <= loaded
    unused = {"scipy.sparse.csgraph", "scipy.linalg", "scipy.optimize"}
    ours = {"generation", "cut_over_time", "bounded_depth", "in_network", "core.pipeline"}
    ours |= {"all_to_all.concurrent_flow", "all_to_all.two_tier_flow"}
    assert loaded.isdisjoint(unused | {f"forestcoll.{name}" for name in ours})


def test_an_all_to_all_over_a_switch_asks_scipy_for_no_distances() -> None:
    """80 starts times 1,760 links are many for repeated questions; a few passes answer one."""
    machine = "nvl72:racks=2,gpus_per_rack=40,planes=10"
    assert "scipy" not in loaded_by("expected", machine, "--collective", "all-to-all")


def test_the_last_collection_of_garbage_has_nothing_to_look_at() -> None:
    """At exit it would look at every object of the command; those are frozen by then."""
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count(), gc.get_count(), file=sys.stderr))\n"
        "from forestcoll.__main__ import main\n"
        "main()"
    )
    done = process("optimum", "paper_example", code=code)
    assert done.returncode == 0
    assert int(done.stderr.split()[0]) > 20_000


def test_h_is_help_everywhere() -> None:
    for path in ("", "optimum", "topology", "topology show", "results"):
        short, long = (invoke(*path.split(), option) for option in ("-h", "--help"))
        assert short.exit_code == 0
        assert short.stdout == long.stdout


def test_shells_complete_commands_without_loading_them() -> None:
    """Bash asks what can follow `forestcoll to`: topology."""
    asked = {
        "_FORESTCOLL_COMPLETE": "complete_bash",
        "COMP_WORDS": "forestcoll to",
        "COMP_CWORD": "1",
    }
    done = process(env={**os.environ, **asked})
    assert "topology" in done.stdout.split()
    assert "optimum" not in done.stdout.split()
