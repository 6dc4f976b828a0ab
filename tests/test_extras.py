"""An ordinary installation: what it can do, and what names the extra that is missing."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from forestcoll.errors import MissingPackageError
from forestcoll.extras import EXTRAS, missing
from tests.command_line import ROOT

_WITHOUT = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted({*EXTRAS, "IPython", "jupyter_core", "click"})}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def _ordinary(*arguments: str, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT, text=True, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def test_schedules_proofs_files_and_the_allreduce_program_need_no_extra(tmp_path):
    """A line of 4 GPUs needs the program: 1 GB/s, where reduction + allgather take longer."""
    code = _WITHOUT + (
        "import forestcoll as f\n"
        "ring = f.load_topology('ring:nodes=4')\n"
        "print(f.optimum(ring).algbw_gb_s, f.verify(f.generate(ring)).optimal)\n"
        "from forestcoll.topology import TopologyBuilder\n"
        "line = TopologyBuilder()\n"
        "gpus = [line.gpu(f'gpu{i}') for i in range(4)]\n"
        "for a, b in zip(gpus, gpus[1:]): line.link(a, b, 1)\n"
        "proved = f.verify(f.generate(line.build('line'), collective='allreduce'))\n"
        "print(proved.algbw_gb_s, proved.optimal)\n"
        f"f.write_schedule(f.generate(ring), {str(tmp_path / 'a.json')!r})\n"
        f"print(f.verify(f.read_schedule({str(tmp_path / 'a.json')!r})).optimal)\n"
    )
    done = _ordinary(code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8/3", "True", "1", "True", "True"]


_NEED = [
    ("topology draw ring:nodes=4 -o a.png", "matplotlib", "experiments"),
    ("results show results/quickstart --parquet a.parquet", "pandas", "experiments"),
    ("results html results/quickstart -o a.html", "plotly", "experiments"),
    ("baselines run sccl ring:nodes=4", "ortools", "lp"),
    (
        "run experiments/quickstart.yaml --executor dask --scheduler tcp://h:1",
        "distributed",
        "dask",
    ),
]


def test_a_command_that_needs_an_extra_names_it_in_one_line(tmp_path):
    lines = _invoked([one for one, _, _ in _NEED], tmp_path)
    for (_, package, extra), (code, _, line) in zip(_NEED, lines, strict=True):
        assert code == 2
        remedy = f"pip install 'forestcoll[{extra}]'"
        assert line.startswith("error: ")
        assert line.endswith(f" needs the package {package}; install it with: {remedy}\n")
        assert line.count("\n") == 1


def test_commands_of_an_ordinary_installation_work(tmp_path):
    files = {"generate": " -o a.json", "certificate": " -o b.json"}
    names = ("optimum", "generate", "expected", "whatif", "certificate")
    commands = [f"{name} ring:nodes=4{files.get(name, '')}" for name in names]
    for code, _, errors in _invoked(commands, tmp_path):
        assert code == 0, errors


def _invoked(commands: list[str], folder: Path) -> list[tuple[int, str, str]]:
    """Return exit code, output and errors of each command, all run in one Python."""
    code = _WITHOUT + (
        "import json\n"
        "from typer.testing import CliRunner\n"
        "from forestcoll import cli\n"
        "run = [CliRunner().invoke(cli.app, words) for words in json.loads(sys.argv[1])]\n"
        "print(json.dumps([(one.exit_code, one.stdout, one.stderr) for one in run]))\n"
    )
    words = [
        [str(folder / word) if word.startswith(("a.", "b.")) else word for word in one.split()]
        for one in commands
    ]
    done = _ordinary(json.dumps(words), code=code)
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


def test_each_package_is_in_the_extra_that_is_named():
    """And not in the ordinary installation: else the remedy would be wrong."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package) for line in extras[extra]), package
        assert not any(line.startswith(package) for line in project["dependencies"])


def test_a_module_of_no_extra_is_no_missing_package():
    """Its traceback is what is wanted: a fault in an installation, or in our own code."""
    assert missing(ModuleNotFoundError(name="forestcoll.nonsense")) is None
    assert isinstance(missing(ModuleNotFoundError(name="cvxpy.atoms")), MissingPackageError)
