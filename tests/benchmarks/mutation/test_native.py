"""What the C++ mutants are built from, and which Python tests judge them."""

import os
from pathlib import Path

from benchmarks.mutation.areas import ROOT
from benchmarks.mutation.native import copy_changed, python_tests, stage_sources


def test_a_mutant_that_was_left_is_replaced_by_a_newer_file(tmp_path: Path) -> None:
    """Sources are older than what a run that was ended left; a build must see that they changed."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in ("same.cpp", "mutant.cpp"):
        (source / name).write_text("return 1;")
        os.utime(source / name, (1000, 1000))
    copy_changed(source, target)
    (target / "mutant.cpp").write_text("return 2;")
    for name in ("same.cpp", "mutant.cpp"):
        os.utime(target / name, (2000, 2000))
    copy_changed(source, target)
    assert (target / "mutant.cpp").read_text() == "return 1;"
    assert (target / "mutant.cpp").stat().st_mtime > 2000
    assert (target / "same.cpp").stat().st_mtime == 2000


def test_every_stage_has_python_tests() -> None:
    for source in stage_sources():
        assert all((ROOT / name).exists() for name in python_tests(source))
