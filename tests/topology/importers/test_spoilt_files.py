"""Files of other tools, cut off at every byte or spoilt at random, end in one line and soon."""

import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.errors import ForestCollError
from forestcoll.topology.importers.channels.channel_files import read_channels
from forestcoll.topology.importers.import_files import import_files
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.supplied import Supplied
from tests.random_topologies import rounds
from tests.topology.importers.nccl_dumps import bridge, cpu, gpu, nic, system
from tests.topology.importers.small_files import (
    FABRICS,
    GRAPHS,
    LOG,
    NVLINKS,
    SMALL_FILES,
    TOPO_SWITCHED,
)

GIVEN = Supplied(gpu="sm_90", nic_gb_s=Fraction(50), uplink_gb_s=Fraction(400))
RUNTIME = rate_table("runtime")
NCCL = system(cpu(0, *(bridge(f"b{i}", gpu(i, switches=[("s", 18)]), nic(i)) for i in range(2))))
DESCRIBED = """\
switches: [leaf, {name: spine, sharp: true}]
cables:
  - {between: [leaf, spine], bandwidth: 400 Gb/s, count: 4}
ports:
  - {switch: leaf, machine: node0, nics: "mlx5_*", bandwidth: 400 Gb/s}
"""
FILES = {
    **{name: text for name, (text, _) in SMALL_FILES.items()},
    **{name: text for name, (text, _) in FABRICS.items()},
    "nccl": NCCL,
    "nvlinks": NVLINKS,
    "described": DESCRIBED,
    "graphs": GRAPHS,
    "log": LOG,
}
KINDS = {"rocm": "gfx942", "rocm-widths": "gfx90a", "topo-direct": "sm_70"}
"""Kinds of GPUs that are no H100s, by the file."""

LETTERS = "0123456789-/:,.[]{}()<>='\"# \t\nAxgN\\%é\0"
SECONDS = 20


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "topo.txt"
    path.write_text(TOPO_SWITCHED, encoding="utf-8")
    return path


def reader(name: str, machine: Path) -> Callable[[Path], object]:
    """Return how a file is read: alone, or beside the matrix of a machine."""
    if name in ("graphs", "log"):
        return read_channels
    given = replace(GIVEN, gpu=KINDS.get(name, "sm_90"))
    called = "node00" if "node00" in FILES[name] or "node[00" in FILES[name] else "node0"
    beside = name in FABRICS or name in ("described", "nvlinks")
    named = called if name == "nvlinks" else None
    before = [(called, machine)] if beside else []
    return lambda path: import_files([*before, (named, path)], None, RUNTIME, supplied=given)


def check(read: Callable[[Path], object], texts: Iterator[str], path: Path) -> int:
    """Read all texts; return how many of them were right."""
    right = 0
    begin = time.process_time()
    for text in texts:
        path.write_text(text, encoding="utf-8")
        try:
            read(path)
            right += 1
        except ForestCollError as error:
            line = re.sub("x{99,}", "", str(error))  # which the command line shortens
            assert "\n" not in line.strip(), repr(line)
            assert 10 < len(line) < 1500, line
    assert time.process_time() - begin < SECONDS
    return right


@pytest.mark.parametrize("name", FILES)
def test_the_whole_file_is_read(name: str, machine: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert check(reader(name, machine), iter([FILES[name]]), path) == 1


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off(name: str, machine: Path, tmp_path: Path) -> None:
    """At a hundred places, or a quarter."""
    text = FILES[name]
    places = random.Random(7).sample(range(len(text)), min(rounds(100, 25), len(text)))
    check(reader(name, machine), (text[:at] for at in places), tmp_path / "file")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_anywhere(name: str, machine: Path, tmp_path: Path) -> None:
    """At every byte, in parts of bounded time."""
    text = FILES[name]
    for first in range(0, len(text), 500):
        last = min(first + 500, len(text))
        texts = (text[:at] for at in range(first, last))
        check(reader(name, machine), texts, tmp_path / "file")


def spoilt(text: str, source: random.Random) -> str:
    """Return the text with one to four changes: letters, numbers, lines, parts exchanged."""
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text) + 1)
        length = source.choice((0, 1, 1, 2, 5, 40))
        kind = source.randrange(5)
        new = ""
        if kind == 0:
            new = "".join(source.choice(LETTERS) for _ in range(source.randint(1, 4)))
        elif kind == 1:
            new = source.choice(("9" * 30, "-1", "0", "1e9", "999999999", "NaN", "x" * 5000))
        elif kind == 2:
            other = source.randrange(len(text) + 1)
            new = text[other : other + 30]
        elif kind == 3:
            lines = text.split("\n")
            place = source.randrange(len(lines))
            lines.insert(place, source.choice(lines))
            text = "\n".join(lines)
            continue
        text = text[:at] + new + text[at + length :]
        if not text:
            return " "
    return text


@pytest.mark.parametrize("name", FILES)
def test_a_spoilt_file(name: str, machine: Path, tmp_path: Path) -> None:
    source = random.Random(f"a {name}")
    texts = (spoilt(FILES[name], source) for _ in range(rounds(100, 25)))
    check(reader(name, machine), texts, tmp_path / "file")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_two_thousand_spoilt_files(name: str, machine: Path, tmp_path: Path) -> None:
    source = random.Random(f"b {name}")
    for _ in range(10):
        texts = (spoilt(FILES[name], source) for _ in range(200))
        check(reader(name, machine), texts, tmp_path / "file")
