"""The border to the C++ core: its types are as checked in, and each function has one caller."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import baselines.native
import forestcoll.native

ROOT = Path(__file__).parents[2]
SWITCHES = {"shortcut_names", "block_shortcuts"}
"""For tests only (:mod:`tests.fuzz.shortcuts`)."""

PACKAGES = ("forestcoll", "lp", "baselines", "experiments")


@pytest.mark.parametrize(
    ("package", "module"), [(forestcoll.native, "_core"), (baselines.native, "_methods")]
)
def test_stub_is_current(package, module, tmp_path):
    """The checked-in types are those of the module; after a change, `make stub` writes them."""
    fresh = tmp_path / f"{module}.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "--quiet"]
    command += ["-m", f"{package.__name__}.{module}", "-o", str(fresh)]
    subprocess.run(command, check=True)
    stub = Path(str(package.__file__)).with_name(f"{module}.pyi")
    assert stub.read_text() == fresh.read_text()


@pytest.mark.parametrize("stub", ["forestcoll/native/_core.pyi", "baselines/native/_methods.pyi"])
def test_each_native_function_has_one_caller(stub):
    """Other modules ask the module of the stage, which has checked and named what comes out."""
    module = Path(stub).stem
    callers = defaultdict(set)
    for path in (path for name in PACKAGES for path in (ROOT / name).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        names = re.findall(rf"\b{module}\.(\w+)\(", text)
        names += re.findall(rf"from \S+\.{module} import (\w+)", text)
        for name in names:
            callers[name].add(path.relative_to(ROOT))
    offered = {
        node.name
        for node in ast.parse((ROOT / stub).read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    } - SWITCHES
    assert {name: len(callers[name]) for name in offered} == dict.fromkeys(offered, 1)
