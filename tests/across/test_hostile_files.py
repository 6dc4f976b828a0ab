"""Whatever a file is, each reader ends soon, in little memory, with one line and exit code 2.

Each reader is a command. Those of one reader run in a process of their own, whose address space is
limited to what it had when it began and MEMORY_MB more: a fork of one that has imported all.
"""

import json
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest
import yaml

from baselines.registry import METHODS
from experiments.results.frames import MOST_ROWS
from experiments.results.rows import RowFile
from forestcoll import certificate_of_time, certify, generate, load_topology, time_bound
from forestcoll.all_to_all.bound_certificate import certify_demand
from forestcoll.compilation import compile_program
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.schedule import write_certificate, write_schedule
from forestcoll.topology.files import topology_json
from tests.across.hostile_files import DIGITS, LONG, no_files, spoilt, texts
from tests.command_line import ROOT
from tests.experiments.advice.bundle.tuned_ring import tuned
from tests.experiments.samples import rings_of_rows
from tests.runtimes.scoring.tool_documents import ring_sentences, teccl_allgather
from tests.schedule.made.flows import unequal
from tests.schedule.made.steps import demanded

MEMORY_MB = 800
RING = "ring:nodes=4"

Command = Callable[[Path], list[str]]

_IMPORT = ("topology", "import")

READERS: dict[str, tuple[str, Command]] = {
    "topology": ("net.yaml", lambda file: ["optimum", str(file)]),
    "topology in JSON": ("net.json", lambda file: ["optimum", str(file)]),
    "dump of a machine": (
        "topo.xml",
        lambda file: [
            *_IMPORT,
            str(file),
            "--rates",
            "nominal",
            "-o",
            str(file.with_suffix(".yaml")),
        ],
    ),
    "fabric": (
        "net.txt",
        lambda file: [*_IMPORT, str(file), "--uplink", "1", "-o", str(file.with_suffix(".yaml"))],
    ),
    "rates": (
        "rates.yaml",
        lambda file: [
            *(*_IMPORT, str(ROOT / "docs" / "examples" / "h100-topo.txt"), "--gpu", "H100"),
            *("--rates", str(file), "-o", str(file.with_name("made.yaml"))),
        ],
    ),
    "channels": ("nccl.log", lambda file: ["topology", "channels", str(file)]),
    "schedule": ("sched.json", lambda file: ["verify", str(file)]),
    "binary schedule": ("sched.npz", lambda file: ["simulate", str(file), "--size", "1MB"]),
    "weights": ("w.yaml", lambda file: ["optimum", RING, "--weights", str(file)]),
    "weights in JSON": ("w.json", lambda file: ["optimum", RING, "--weights", str(file)]),
    "demand": ("d.yaml", lambda file: ["optimum", RING, "--demand", str(file)]),
    "demand in JSON": ("d.json", lambda file: ["optimum", RING, "--demand", str(file)]),
    "demand in CSV": ("d.csv", lambda file: ["optimum", RING, "--demand", str(file)]),
    "demand in npz": ("d.npz", lambda file: ["optimum", RING, "--demand", str(file)]),
    "MSCCL": ("algo.xml", lambda file: ["check-xml", str(file)]),
    "MSCCL++": ("plan.json", lambda file: ["check-plan", str(file)]),
    "peer": ("peer.json", lambda file: ["score", str(file), "--topology", RING]),
    "sketch": (
        "sketch.yaml",
        lambda file: ["baselines", "run", "taccl", RING, "--set", f"sketch={file}"],
    ),
    "experiment": ("run.yaml", lambda file: ["run", str(file), "--dry-run"]),
    "rows": ("rows.jsonl", lambda file: ["results", "show", str(file)]),
    "rows of a run": (
        "quickstart/rows.jsonl",
        lambda file: [
            *("run", str(ROOT / "experiments" / "quickstart.yaml")),
            *("--results", str(file.parents[1])),
        ],
    ),
    "parquet": ("rows.parquet", lambda file: ["results", "show", str(file)]),
    "bundle": ("index.json", lambda file: ["bundle", "check", str(file.parent)]),
    "tuned": (
        "index.json",
        lambda file: ["bundle", "export", str(file.parent), "-o", str(file.parent / "made")],
    ),
}
"""For every reader the name of its file, and the command that reads it."""

BEGUN = ("nothing", "empty", "a terabyte", "NUL bytes", "no UTF-8")  # which a run goes on after


class Process:
    """Runs lists of commands, each in a fork of a process that has imported what they need."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        absent = Path("absent")
        readers = [one for reader, one in READERS.items() if reader != "rows of a run"]
        self.send([command(absent / name) for name, command in readers])

    def send(self, commands: list[list[str]]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(commands) + "\n")
        self.process.stdin.flush()

    def outcomes(self, commands: list[list[str]]) -> list[tuple[int, str, float]]:
        self.send(commands)
        stdout = self.process.stdout
        assert stdout is not None
        assert select.select([stdout], [], [], 300)[0], "nothing came back in 300 s"
        found = json.loads(stdout.readline())
        assert isinstance(found, list), found
        return [tuple(one) for one in found]


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.across.hostile_files", str(MEMORY_MB)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with started:
        yield Process(started)
        started.kill()


def check(
    process: Process,
    files: list[tuple[str, Path]],
    command: Command,
    *,
    of_the_format: bool = False,
) -> None:
    """Expect exit code 2 and one short line.

    What is of the format may be right, or proved wrong with exit code 1: a name of 5,000 digits.
    """
    wrong = []
    found = process.outcomes([command(path) for _, path in files])
    for (what, path), (code, output, seconds) in zip(files, found, strict=True):
        one_line = output.startswith("error: ") and output.count("\n") == 1
        refused = code in ((1, 2) if of_the_format else (2,)) and one_line and len(output) < 2000
        if not refused and not (of_the_format and code in (0, 1) and not output):
            wrong.append(f"{what} ({path}): {code} in {seconds:.1f} s: {output[:700]}")
    assert not wrong, "\n".join(wrong)


LONG_OF = {
    "topology in JSON": "zeros",
    "schedule": "lists",
    "rows": "fields",
    "MSCCL++": "letters",
    "experiment": "lines",
}
"""Each of the long texts once, for readers whose files may be long; all share what bounds them."""

SAMPLED = [(reader, (LONG_OF[reader],) if reader in LONG_OF else ()) for reader in READERS]


def test_every_long_text_is_read_by_one_reader() -> None:
    assert sorted(LONG_OF.values()) == sorted(LONG)


@pytest.mark.parametrize(
    ("reader", "long"),
    [*SAMPLED, *(pytest.param(reader, LONG, marks=pytest.mark.slow) for reader in READERS)],
)
def test_invalid_files_of_every_format_are_refused_in_one_line(
    reader: str, long: tuple[str, ...], process: Process, tmp_path: Path
) -> None:
    """No pipe blocks, no device is read, nothing is parsed of what is too long."""
    name, command = READERS[reader]
    files = list(no_files(tmp_path, name))
    if reader == "rows of a run":
        check(process, [one for one in files if one[0] not in BEGUN], command)
    else:
        check(process, [*files, *texts(tmp_path, name, long)], command)


def test_archives_that_swell(process: Process, tmp_path: Path) -> None:
    """Of zeros: an npz member of 0.84 GB takes 4 MB, a parquet column of 800 MB some 100 kB."""
    bomb, parquet = tmp_path / "bomb.npz", tmp_path / "bomb.parquet"
    swollen = ZipFile(bomb, "w", ZIP_DEFLATED, compresslevel=1)
    with swollen as archive, archive.open("head.npy", "w") as member:
        for _ in range(200):
            member.write(bytes(2**22))
    demand = tmp_path / "demand.npz"
    swollen = ZipFile(demand, "w", ZIP_DEFLATED, compresslevel=1)
    shape = {"descr": "<i8", "fortran_order": False, "shape": (10_240, 10_240)}
    with swollen as archive, archive.open("amounts.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, shape)
        for _ in range(200):
            member.write(bytes(2**22))
    frame = pd.DataFrame({"gpus": [0]}).loc[[0] * (MOST_ROWS + 1)]
    frame.to_parquet(parquet)
    for reader, path in (
        ("binary schedule", bomb),
        ("demand in npz", bomb),
        ("demand in npz", demand),
        ("parquet", parquet),
    ):
        check(process, [(reader, path)], READERS[reader][1])


@pytest.mark.parametrize(
    ("reader", "tag"),
    [
        ("MSCCL", "algo"),
        ("dump of a machine", "system"),
        *(  # their elements are read and counted by the same lines
            pytest.param("dump of a machine", tag, marks=pytest.mark.slow)
            for tag in ("topology", "graphml")
        ),
        ("channels", "graphs"),
    ],
)
def test_xml_that_swells(reader: str, tag: str, process: Process, tmp_path: Path) -> None:
    """Entities in entities, and elements in elements."""
    entities = "".join(f'<!ENTITY e{i + 1} "' + f"&e{i};" * 10 + '">' for i in range(9))
    contents = {
        "laughs": f'<!DOCTYPE a [<!ENTITY e0 "ha">{entities}]><{tag} name="&e9;"></{tag}>',
        "elsewhere": f'<!DOCTYPE a [<!ENTITY e SYSTEM "/dev/zero">]><{tag}>&e;</{tag}>',
        "elements": f"<{tag}>" * 100_000,
        "siblings": f"<{tag}>" + "<a/>" * 3_000_000 + f"</{tag}>",
        "attributes": f"<{tag} " + " ".join(f"a{i}=''" for i in range(300_000)) + ">",
        "digits": f'<{tag} name="a" ngpus="{DIGITS}">',
        "name": "<" + "a" * 5_000_000 + ">",
    }
    files = []
    for what, content in contents.items():
        path = tmp_path / f"{what}.xml"
        path.write_text(content)
        files.append((what, path))
    check(process, files, READERS[reader][1])


def _schedule(tmp_path: Path, collective: str) -> Any:
    write_schedule(
        generate(load_topology(RING), collective=collective).schedule, tmp_path / "made.json"
    )
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _steps(tmp_path: Path) -> Any:
    made = METHODS["bfb"].run(load_topology(RING), "allgather", {})
    write_schedule(made, tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _flows(tmp_path: Path) -> Any:
    write_schedule(unequal(), tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _demanded(tmp_path: Path) -> Any:
    write_schedule(demanded(), tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _certificate(tmp_path: Path, collective: str) -> Any:
    write_certificate(certify(load_topology(RING), collective=collective), tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _priced(tmp_path: Path) -> Any:
    demand = Demand.of_chunks(4, [(0, 5, [1, 2]), (3, 7, [0])])
    write_certificate(certify_demand(RING, demand), tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _timed(tmp_path: Path) -> Any:
    write_certificate(certificate_of_time(time_bound(RING, size=1000)), tmp_path / "made.json")
    return json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))


def _delayed(tmp_path: Path) -> Any:
    made = certificate_of_time(time_bound("torus:dims=3x3", "all-to-all", 10**9))
    write_certificate(made, tmp_path / "made.json")
    read = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    return {**_two_of_each(read), "gpus": read["gpus"]}


def _topology(_: Path) -> Any:
    return json.loads(topology_json(load_topology(RING)))


def _sketch(_: Path) -> Any:
    folder = ROOT / "baselines" / "synthesizers" / "taccl" / "sketches"
    return yaml.safe_load(min(folder.glob("*.yaml")).read_text(encoding="utf-8"))


def _experiment(_: Path) -> Any:
    file = ROOT / "experiments" / "quickstart.yaml"
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {**found, "sizes": [1024], "k": 1, "weights": [1, 2]}


def _row(tmp_path: Path) -> Any:
    with RowFile(tmp_path / "rows.jsonl") as rows:
        rows.append(rings_of_rows()[0])
    return json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))


def _tuned(tmp_path: Path) -> Any:
    index = tuned(tmp_path / "tuned") / "index.json"
    read = json.loads(index.read_text(encoding="utf-8"))
    return _two_of_each({**read, "version": 2})  # not to be exported


def _two_of_each(data: Any) -> Any:
    """Shorten lists: an entry after the second has the fields of those before."""
    if isinstance(data, dict):
        return {key: _two_of_each(value) for key, value in data.items()}
    return [_two_of_each(value) for value in data[:2]] if isinstance(data, list) else data


DOCUMENTS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "forest": ("schedule", lambda folder: _schedule(folder, "allgather")),
    "allreduce": ("schedule", lambda folder: _schedule(folder, "allreduce")),
    "steps": ("schedule", _steps),
    "flows": ("schedule", _flows),
    "steps of a demand": ("schedule", _demanded),
    "demand": ("demand", lambda _: {"name": "a", "unit": 2, "amounts": [[0, 1, 2, 3]] * 4}),
    "chunks": ("demand", lambda _: {"chunks": [{"from": "gpu0", "to": ["gpu1"], "size": "1KB"}]}),
    "named demands": ("demand", lambda _: {"name": "a", "demands": ["sendrecv:size=1KB"]}),
    "demand in JSON": ("demand in JSON", lambda _: {"unit": 2, "amounts": [[0, 1, 2, 3]] * 4}),
    "chunks in JSON": (
        "demand in JSON",
        lambda _: {"chunks": [{"from": 0, "to": "gpu1", "size": 1024}]},
    ),
    "certificate": ("schedule", lambda folder: _certificate(folder, "allgather")),
    "certificate of an allreduce": ("schedule", lambda folder: _certificate(folder, "allreduce")),
    "certificate of a demand": ("schedule", _priced),
    "certificate of a time": ("schedule", _timed),
    "certificate of a rate after a delay": ("schedule", _delayed),
    "topology": ("topology", _topology),
    "topology in JSON": ("topology in JSON", _topology),
    "changes": (
        "topology in JSON",
        lambda _: {"base": RING, "with": {"gpu0 - gpu2": "5"}, "scale": {"gpu0": 2}},
    ),
    "weights": ("weights", lambda _: {f"gpu{i}": i for i in range(4)}),
    "weights in JSON": ("weights in JSON", lambda _: {f"gpu{i}": i for i in range(4)}),
    "plan": (
        "MSCCL++",
        lambda _: json.loads(
            export(compile_program(generate(load_topology(RING)).schedule), MscclppOptions()).text
        ),
    ),
    "peer": ("peer", lambda _: teccl_allgather(ring_sentences(4))),
    "sketch": ("sketch", _sketch),
    "experiment": ("experiment", _experiment),
    "rows": ("rows", _row),
    "tuned": ("tuned", _tuned),
}
"""Right documents by their kind, small ones, each with its reader."""


@pytest.mark.parametrize(
    "kind",
    [pytest.param(one, marks=pytest.mark.slow if one == "tuned" else ()) for one in DOCUMENTS],
)
def test_digits_and_surrogates_everywhere(kind: str, process: Process, tmp_path: Path) -> None:
    """In the place of each value, and in that of each key."""
    reader, make = DOCUMENTS[kind]
    document = make(tmp_path)
    name, command = READERS[reader]
    files = list(spoilt(tmp_path / "files", name, document))
    if reader == "rows":  # whose last line counts only if it has an end
        for _, path in files:
            path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    check(process, files, command, of_the_format=True)
