"""Files that the pages of docs presume: those of the reader."""

from collections.abc import Callable
from pathlib import Path

from baselines import METHODS
from forestcoll import compile_program, generate, load_topology
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.schedule import write_schedule
from forestcoll.topology.files import write_topology
from tests.command_line import ROOT
from tests.experiments.simulation_fit.made import measured_with


def _times(path: Path) -> None:
    rows = (
        f"{size},{20 + 10 * steps + 1e-4 * size * 1.5},{steps},1.5"
        for steps in (4, 8)
        for size in (1024, 2**20, 2**28)
    )
    path.write_text("size_bytes,time_us,steps,share\n" + "\n".join(rows) + "\n")


def _curves(path: Path) -> None:
    rows = (
        f'"{one.curve.topology}",{one.curve.collective},{one.curve.method},{one.size_bytes},'
        f"{one.time_s * 1e6}"
        for one in measured_with()
    )
    path.write_text("topology,collective,method,size,time_us\n" + "\n".join(rows) + "\n")


def _amounts(path: Path) -> None:
    row = ",".join(str(1000 * target) for target in range(1, 17))
    path.write_text(f"{row}\n" * 16)


def _schedule(path: Path) -> None:
    write_schedule(generate("dgx_a100:boxes=4").schedule, path)


def _ring(path: Path) -> None:
    write_schedule(METHODS["ring"].run(load_topology("dgx_a100:boxes=2"), "allgather"), path)


def _xml(path: Path) -> None:
    program = compile_program(generate("ring:nodes=4").schedule)
    path.write_text(export(program, MscclOptions()).text)


def _all_to_all(path: Path) -> None:
    schedule = METHODS["direct"].run(load_topology("dgx_a100:boxes=2"), "all-to-all")
    path.write_text(export(compile_program(schedule), MscclOptions()).text)


def _cluster(path: Path) -> None:
    write_topology(load_topology("dgx_a100:boxes=2"), path)


GIVEN: dict[str, dict[str, Callable[[Path], None]]] = {
    "docs/all-to-all.md": {"tokens.csv": _amounts, "file.xml": _all_to_all},
    "docs/formats/runtime-files.md": {"allgather.xml": _xml},
    "docs/how-to/damaged-network.md": {"old.npz": _schedule},
    "docs/simulation.md": {"measured.csv": _curves},
    "docs/start/features.md": {
        "my-cluster.yaml": _cluster,
        "other.json": _ring,
        "times.csv": _times,
    },
    "docs/training.md": {"times.csv": _times},
}
"""By page: the files that its reader has, with what writes them."""


def lay_out(page: str, folder: Path) -> None:
    """Write the files that a page presumes into a folder, beside the docs of the repository."""
    (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "experiments").symlink_to(ROOT / "experiments")
    for name, write in GIVEN.get(page, {}).items():
        write(folder / name)


NOT_RUN = {
    "make ": "each is a target of the Makefile; CI runs two of them",
    "pip install ": "needs a network; make wheel tries the package in empty environments",
    "import allreduce": "needs torch; make test-torch runs written modules",
    "from dask_jobqueue ": "needs a Slurm cluster",
    "forestcoll exec allreduce.json --backend torch": "needs torch",
    "forestcoll score allgather.json --topology ndv2": "needs TE-CCL's published file",
    "forestcoll export ours.json": "the same",
}
"""Beginnings of a block or command that no test runs, and why."""


def is_run(text: str) -> bool:
    return not any(text.startswith(start) or f"\n{start}" in text for start in NOT_RUN)
