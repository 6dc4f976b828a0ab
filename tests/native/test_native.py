"""The border to the C++ core: its types are as checked in."""

import subprocess
import sys
from pathlib import Path

import forestcoll.native


def test_stub_is_current(tmp_path):
    """The checked-in types are those of the module; after a change, `make stub` writes them."""
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "--quiet"]
    command += ["-m", "forestcoll.native._core", "-o", str(fresh)]
    subprocess.run(command, check=True)
    stub = Path(str(forestcoll.native.__file__)).with_name("_core.pyi")
    assert stub.read_text() == fresh.read_text()
