"""The command line: what it prints, what it writes, and what it is made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer

from forestcoll import cli
from forestcoll.cli import generation, shell
from forestcoll.generate import STAGES
from forestcoll.schedule import read_schedule
from forestcoll.topology import FAMILIES, load_topology, read_topology
from tests.command_line import ROOT, assert_one_line, document, invoke, process


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A schedule file of the running example: eight GPUs, k = 1."""
    path = tmp_path_factory.mktemp("schedules") / "example.json"
    assert invoke("generate", "paper_example", "-o", path).exit_code == 0
    return path


# --- topologies ---------------------------------------------------------------------------------


def test_list_names_every_family_and_its_parameters() -> None:
    """The same in text and in JSON."""
    listed = document("topology", "list")
    assert [family["name"] for family in listed] == list(FAMILIES)
    boxes = listed[0]["parameters"][0]
    assert (boxes["name"], boxes["required"], boxes["default"]) == ("boxes", True, None)
    text = invoke("topology", "list").stdout
    assert "    boxes                  number of boxes;" in text
    assert "    nics=implicit          NICs as a GPU's link" in text
    assert max(len(line) for line in text.splitlines() if line.startswith("    ")) <= 80
    assert all(family["summary"] in text for family in listed)


def test_show_counts_nodes_and_gathers_links() -> None:
    """Two A100 boxes: 16 GPUs with 300 + 25 GB/s in, 2 NVSwitches and InfiniBand, 64 links."""
    shown = document("topology", "show", "dgx_a100:boxes=2")
    assert (shown["gpus"], shown["switches"], shown["boxes"], shown["links"]) == (16, 3, 2, 64)
    assert shown["least_gpu_ingress_gb_s"] == {"exact": "325", "value": 325.0}
    assert [each["count"] for each in shown["link_classes"]] == [16, 16, 16, 16]
    assert "greatest GPU ingress  325 GB/s" in invoke("topology", "show", "dgx_a100:boxes=2").stdout


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_an_exported_topology_is_the_topology(suffix: str, tmp_path: Path) -> None:
    """Export, read: equal; and the file stands where a family may."""
    path = tmp_path / f"cluster.{suffix}"
    assert document("topology", "export", "mi250:boxes=2", "-o", path)["file"] == str(path)
    assert read_topology(path) == load_topology("mi250:boxes=2")
    assert document("optimum", path)["inverse_rate"]["exact"] == "15/166"


def test_draw_writes_a_picture_of_the_network_and_its_cut(tmp_path: Path) -> None:
    """The cut in JSON is that of `optimum`."""
    path = tmp_path / "example.png"
    drawn = document("topology", "draw", "paper_example", "--cut", "-o", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert drawn["cut"] == document("optimum", "paper_example")["bottleneck_cut"]


# --- the optimum --------------------------------------------------------------------------------


def test_optimum_prints_exact_numbers_and_the_cut_in_words() -> None:
    """Four A100 boxes, by hand: 24 shards into a box over 8 x 25 GB/s, 24/200 = 3/25 s/GB."""
    lines = invoke("optimum", "dgx_a100:boxes=4").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "topology dgx_a100:boxes=4",
        "collective allgather",
        "GPUs 32",
        "1/x* 3/25 = 0.12 s/GB",
        "algbw 800/3 = 266.667 GB/s",
        "time 3/800 = 0.00375 s/GB",
        "k 1",
        "bottleneck cut everything but box 0 (8 GPUs): 24 shards must enter it over 8 links, "
        "200 GB/s in all (25 per GPU)",
        "8 x 25 GB/s from switch ib to GPUs 0-7 of box 0",
    ]


def test_fractions_in_json_stand_beside_their_decimals() -> None:
    """Two MI250 boxes: 1/x* = 15/166, k = 83, 332 GB/s into an OAM."""
    best = document("optimum", "mi250:boxes=2")
    assert best["k"] == 83
    assert best["inverse_rate"]["exact"] == "15/166"
    assert best["inverse_rate"]["value"] == float(Fraction(15, 166))
    assert best["bottleneck_cut"]["exit_gb_s"]["exact"] == "332"
    assert best["bottleneck_cut"]["gpus"] == 30


# --- schedules ----------------------------------------------------------------------------------


def test_generate_writes_a_verified_schedule_and_a_summary(tmp_path: Path) -> None:
    """Figure 5 of the paper: k = 1, 8 trees, algbw 8 b with b = 1."""
    path = tmp_path / "example.json"
    made = document("generate", "paper_example", "-o", path)
    assert (made["k"], made["trees"], made["algbw_gb_s"]["exact"]) == (1, 8, "8")
    assert made["verified"] is made["optimal"] is True
    assert list(made["stages_s"]) == list(STAGES)
    assert read_schedule(path).num_trees == 8


@pytest.mark.parametrize("method", ["forestcoll", "paper"])
def test_factored_schedules_are_written_verified_and_drawn(method: str, tmp_path: Path) -> None:
    """The same facts as of the explicit form; the height is bounded only, and drawing expands."""
    explicit, factored = tmp_path / "explicit.npz", tmp_path / "factored.npz"
    made = [
        document("generate", "paper_example", "--method", method, "-o", path, *form)
        for path, form in ((explicit, ()), (factored, ("--factored",)))
    ]
    same = ("k", "trees", "distinct_trees", "height", "algbw_gb_s", "verified", "optimal")
    assert [made[0][key] for key in same] == [made[1][key] for key in same]
    proved = [document("verify", path) for path in (explicit, factored)]
    assert proved[0]["congestion"] == proved[1]["congestion"]
    assert proved[0]["height"] <= proved[1]["greatest_possible_height"]
    assert "height" not in proved[1]
    assert invoke("draw", factored, "-o", tmp_path / "tree.png").exit_code == 0


def test_factored_schedules_are_binary(tmp_path: Path) -> None:
    result = invoke("generate", "paper_example", "--factored", "-o", tmp_path / "schedule.json")
    assert result.exit_code == 2
    assert_one_line(result.stderr, "schedule.json: --factored needs a name that ends in .npz")


def test_generate_verifies_before_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forest that claims twice the speed is refused and no file appears; unless told not to."""

    def boastful(topology: Any, **_: Any) -> Any:
        forest, seconds = real(topology)
        object.__setattr__(forest, "congestion", forest.congestion / 2)
        return forest, seconds

    real = generation.generate_timed
    monkeypatch.setattr(generation, "generate_timed", boastful)
    path = tmp_path / "example.json"
    result = invoke("generate", "paper_example", "-o", path)
    assert result.exit_code == 1
    assert_one_line(result.stderr, "overloaded")
    assert not path.exists()
    assert document("generate", "paper_example", "-o", path, "--no-verify")["verified"] is False
    assert path.exists()


def test_verify_prints_the_verdict(schedule: Path) -> None:
    """Eight GPUs: 8 * 7 deliveries, U = 1 tree per GB/s."""
    verdict = document("verify", schedule)
    assert (verdict["verified"], verdict["deliveries"], verdict["gpus"]) == (True, 56, 8)
    assert verdict["congestion"] == {"exact": "1", "value": 1.0}
    assert "congestion     1 tree per GB/s\n" in invoke("verify", schedule).stdout


def test_verify_fails_on_a_corrupted_file(schedule: Path, tmp_path: Path) -> None:
    """A claim of half the congestion: exit 1 and the overloaded link; half a file: exit 2."""
    content = json.loads(schedule.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(content | {"congestion": "1/2", "congestion_decimal": 0.5}))
    result = invoke("verify", forged)
    assert result.exit_code == 1
    assert_one_line(result.stderr, "overloaded")
    torn = tmp_path / "torn.json"
    torn.write_text(schedule.read_text()[:1000])
    result = invoke("verify", torn)
    assert result.exit_code == 2
    assert_one_line(result.stderr, "torn.json")


def test_one_tree_of_a_schedule_is_drawn(schedule: Path, tmp_path: Path) -> None:
    """Tree 7 is there, tree 8 is not."""
    path = tmp_path / "tree.png"
    assert document("draw", schedule, "--tree", 7, "-o", path)["tree"] == 7
    assert path.read_bytes().startswith(b"\x89PNG")
    result = invoke("draw", schedule, "--tree", 8, "-o", path)
    assert result.exit_code == 2
    assert_one_line(result.stderr, "trees are 0 to 7")


# --- the command as a whole ---------------------------------------------------------------------


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, child in getattr(command, "commands", {}).items():
        yield from leaves(child, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        yield path, command


COMMANDS = dict(leaves(typer.main.get_command(cli.app)))


def test_the_commands_are_these() -> None:
    """The core's own; others come by entry points."""
    assert set(COMMANDS) == {
        "topology list",
        "topology show",
        "topology export",
        "topology draw",
        "certificate",
        "optimum",
        "generate",
        "verify",
        "draw",
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
    result = invoke("hello", "nobody")
    assert result.exit_code == 3
    assert_one_line(result.stderr, "there is nobody to greet")
    assert invoke("hello").exit_code == 2


def test_other_packages_add_groups_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    result = invoke("greet", "goodbye")
    assert result.exit_code == 3
    assert_one_line(result.stderr, "you can never leave")
    assert invoke("greet", "goodnight").exit_code == 2


def test_the_module_runs_as_a_program() -> None:
    """The whole way, with one JSON document on stdout and nothing else."""
    done = process("optimum", "paper_example", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["inverse_rate"] == {"exact": "1", "value": 1.0}


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
        "cli.optima.optimum = work\n"
        "cli.main()"
    )
    done = process("optimum", "ring:nodes=4", code=code)
    assert done.returncode == 130
    assert_one_line(done.stderr, "interrupted")


def test_ctrl_c_while_the_command_line_loads_is_130() -> None:
    """SIGINT in the import of forestcoll.cli: one line, no traceback."""
    code = (
        "import os, signal, sys, time\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'forestcoll.cli':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            time.sleep(30)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from forestcoll.__main__ import main\n"
        "main()"
    )
    done = process("optimum", "ring:nodes=4", code=code)
    assert done.returncode == 130
    assert_one_line(done.stderr, "interrupted")


def test_a_reader_who_leaves_is_no_error() -> None:
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


def test_starting_loads_nothing_heavy() -> None:
    """Neither drawing nor tables nor solvers, which take seconds to import."""
    code = (
        "import sys\n"
        "import forestcoll.cli\n"
        "heavy = {'matplotlib', 'pandas', 'pyarrow', 'ortools', 'highspy', 'cvxpy'}\n"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    assert process(code=code).returncode == 0


# --- in-network multicast -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_multicast_reports_the_traffic_removed(tmp_path: Path, suffix: str) -> None:
    """One H100 box: 7 bytes a byte into the NVSwitch become 1; the file is verified as any."""
    file = tmp_path / f"schedule.{suffix}"
    facts = document("generate", "dgx_h100:boxes=1", "--multicast", "-o", file)
    assert (facts["verified"], facts["optimal"], facts["height"]) == (True, True, 2)
    into, out_of = facts["traffic"]
    assert [into[key]["exact"] for key in ("before", "after", "factor")] == ["7", "1", "1/7"]
    assert out_of["factor"]["exact"] == "1"
    assert document("verify", file)["tree_edges"] == 64


def test_multicast_in_words_for_each_phase_of_an_allreduce(tmp_path: Path) -> None:
    """Sums leave the NVSwitch once, copies enter it once."""
    arguments = ("dgx_h100:boxes=1", "--collective", "allreduce", "--multicast")
    result = invoke("generate", *arguments, "-o", tmp_path / "schedule.json")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("traffic of reduce"))
    assert lines[start].endswith(": 7 -> 7 bytes per byte of data (unchanged)")
    assert lines[start + 1].endswith(": 7 -> 1 bytes per byte of data (14.29 %)")
    assert lines[start + 2].startswith("traffic of gather")
    assert lines[start + 2].endswith(": 7 -> 1 bytes per byte of data (14.29 %)")


def test_multicast_is_not_for_factored_forests(tmp_path: Path) -> None:
    """What to do instead is said."""
    file = tmp_path / "schedule.npz"
    refused = invoke("generate", "dgx_h100:boxes=1", "--multicast", "--factored", "-o", file)
    assert refused.exit_code == 2
    assert_one_line(refused.stderr, "leave --factored away")


def test_trees_in_which_switches_copy_are_drawn(tmp_path: Path) -> None:
    """Of an allreduce either phase."""
    file, picture = tmp_path / "schedule.json", tmp_path / "tree.png"
    options = ("dgx_h100:boxes=1", "--multicast", "--collective", "allreduce")
    assert invoke("generate", *options, "-o", file).exit_code == 0
    for phase in ("reduce", "gather"):
        assert invoke("draw", file, "--phase", phase, "-o", picture).exit_code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("dgx_a100:boxes=3", "in it compute node b2.gpu0 is missing (and "),
        ("dgx_a100:boxes=2,nic_bandwidth=50", "has 25 GB/s, not 50 (and "),
        ("dgx_a100:boxes=2,ib_switches=2", "in it switch node ib0 is missing (and "),
        ("dgx_h100:boxes=2", "b0.nvswitch is a switch node, not a switch node with multicast"),
    ],
)
def test_a_schedule_for_another_network_is_refused(
    network: str, message: str, tmp_path: Path
) -> None:
    """The first difference is named, and how many more there are."""
    file = tmp_path / "schedule.npz"
    assert invoke("generate", "dgx_a100:boxes=2", "-o", file).exit_code == 0
    assert invoke("verify", file, "--topology", "dgx_a100:boxes=2").exit_code == 0
    refused = invoke("verify", file, "--topology", network)
    assert refused.exit_code == 1
    assert_one_line(refused.stderr, message)


def test_a_group_of_ones_own_network_is_compared_too(tmp_path: Path) -> None:
    """A schedule of a group is for the network in which the other GPUs forward."""
    file = tmp_path / "schedule.npz"
    members = ("--group", "b0.gpu0,b0.gpu1,b1.gpu0")
    assert invoke("generate", "dgx_a100:boxes=2", *members, "-o", file).exit_code == 0
    mine = ("--topology", "dgx_a100:boxes=2")
    assert invoke("verify", file, *mine, *members).exit_code == 0
    refused = invoke("verify", file, *mine)
    assert refused.exit_code == 1
    assert_one_line(refused.stderr, "is a relay node, not a compute node")
    assert invoke("verify", file, *members).exit_code == 2


def test_a_schedule_in_steps_has_no_trees_to_draw(tmp_path: Path) -> None:
    """What is no tree is said to be none."""
    file = tmp_path / "steps.json"
    assert invoke("baselines", "run", "bruck", "dgx_a100:boxes=2", "-o", file).exit_code == 0
    refused = invoke("draw", file, "-o", tmp_path / "tree.png")
    assert refused.exit_code == 2
    assert_one_line(refused.stderr, "draw_tree takes a schedule of trees, not StepSchedule")
