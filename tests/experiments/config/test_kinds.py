"""Kinds of figures are declared apart from what draws them, and everybody knows them."""

import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.registry import METHODS
from experiments.config import kinds
from experiments.config.figure_options import parse_figure
from experiments.config.kinds import KINDS, Kind, register
from experiments.config.schema import experiment_schema
from experiments.measures.declared import DRAWN
from forestcoll.errors import InvalidExperimentError

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "experiments" / "figures.md"


@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_every_kind_has_a_function_that_takes_its_options(kind: Kind) -> None:
    """And defaults that are what they say."""
    function = pkgutil.resolve_name(kind.draws)
    takes = inspect.signature(function).parameters
    assert {"rows", *kind.options} == set(takes) - {"palette"}  # which the page gives
    known = {"measure": DRAWN, "axis": kinds.AXES, "side": kinds.SIDES, "swept": kinds.AXES}
    known |= {"choice": {"method": ""}, "value": METHODS}
    assert all(option.default in known[option.takes] for option in kind.options.values())
    assert parse_figure(kind.name).kind == kind.name


def test_the_docs_have_a_line_for_each_kind() -> None:
    """With the options that one can choose, and their defaults."""
    page = PAGE.read_text(encoding="utf-8")
    for kind in KINDS.values():
        options = ", ".join(f"`{name}={option.default}`" for name, option in kind.free.items())
        assert f"| `{kind.name}` | {kind.summary} | {options}{' ' * bool(options)}|" in page


NEW = """
from pathlib import Path
from experiments.config.figure_options import parse_figure
from experiments.config.kinds import Kind, Option, register
from experiments.config.schema import experiment_schema
from experiments.figures.plot import plot
from experiments.results.selection import load_results

register(Kind(
    name="dots", summary="dots", draws="dots:dots", options={"y": Option("depth")},
))
assert parse_figure("dots:y=k").options == {"y": "k"}
known = experiment_schema()["properties"]["figures"]["items"]["anyOf"]
assert {"const": "dots", "description": "dots"} in known
plot("dots:y=k", load_results(Path("ROOT/results/quickstart")), [Path("a.svg")])
assert "36 rows of k" in Path("a.svg").read_text()
"""

DOTS = """
from experiments.figures.figure import Axis, Figure, Panel

def dots(rows, y):
    return Figure((Panel(f"{len(rows)} rows of {y}", Axis(), Axis()),))
"""


@pytest.mark.slow
def test_a_new_kind_is_one_entry_beside_its_function(tmp_path: Path) -> None:
    """Experiment files, the schema and the drawing know it at once."""
    (tmp_path / "dots.py").write_text(DOTS)
    program = NEW.replace("ROOT", str(ROOT))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_no_two_kinds_have_one_name() -> None:
    with pytest.raises(InvalidExperimentError, match="there is a kind of figure 'lines'"):
        register(Kind(name="lines", summary="again", draws="a:b"))


@pytest.mark.slow
def test_no_drawing_code_is_loaded_to_read_an_experiment() -> None:
    """Matplotlib takes as long as all the rest together."""
    program = (
        "import sys; from pathlib import Path; "
        "from experiments.config.experiment import read_experiment; "
        "read_experiment(Path('experiments/quickstart.yaml')); "
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]; "
        "assert not [name for name in sys.modules if name.startswith('experiments.figures')]"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_the_schema_knows_every_kind() -> None:
    figures = experiment_schema()["properties"]["figures"]["items"]["anyOf"]
    assert {entry["const"] for entry in figures if "const" in entry} == set(KINDS)
