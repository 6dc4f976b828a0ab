"""Figures need nothing but rows."""

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import figure as pictures

from experiments.config.figure_options import parse_figure
from experiments.config.kinds import KINDS
from experiments.figures.emphasis import MOST_ENTRIES
from experiments.figures.figure import Axis, Figure, Panel, Point, Series
from experiments.figures.matplotlib_renderer import render, style
from experiments.figures.plot import draw, plot, titled
from experiments.figures.styles import STYLES
from experiments.reproduction.coverage import Coverage
from experiments.results.rows import Row, Status
from forestcoll.errors import ExportError, InvalidExperimentError
from tests.baselines.once_each import every
from tests.experiments.figures.described import faults
from tests.experiments.samples import clusters_of_rows as some_rows


@pytest.mark.parametrize("kind", every(4, KINDS))
def test_a_figure_is_a_png_and_a_pdf(kind: str, tmp_path: Path) -> None:
    """Both begin as their formats do and hold a picture; matplotlib's settings are left alone."""
    before = dict(mpl.rcParams)
    png, pdf = draw(kind, some_rows(), tmp_path / kind)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert png.stat().st_size > 5000
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    """No date, no name, no random number gets into a file of any format."""
    names = [[tmp_path / f"{name}.{ending}" for ending in ("png", "pdf", "svg")] for name in "ab"]
    once, again = (plot("time-against-algbw", some_rows(), files, "A title") for files in names)
    assert [file.read_bytes() for file in once] == [file.read_bytes() for file in again]


@pytest.mark.first_rows(4)
@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("kind", ["differences", *every(5, sorted(KINDS.keys() - {"differences"}))])
def test_rows_without_values_draw_no_line(kind: str, sized: bool, tmp_path: Path) -> None:
    """An experiment in which everything failed, maybe before it had a size, can be drawn."""
    rows = [replace(row, status=Status.FAILED, optimum_gb_s=None) for row in some_rows()]
    rows = rows if sized else [replace(row, gpus=None) for row in rows]
    (file,) = plot(kind, rows, [tmp_path / "a.svg"])
    assert file.stat().st_size > 3000


def test_options_are_part_of_the_kind_and_of_the_file_name(tmp_path: Path) -> None:
    """A file's name has nothing that an artefact store or a spreadsheet would refuse."""
    files = draw("pareto:x=depth,y=k", some_rows(), tmp_path / "pareto:x=depth,y=k")
    assert [file.name for file in files] == ["pareto-x-depth-y-k.png", "pareto-x-depth-y-k.pdf"]


def test_invalid_plots_raise_typed_errors(tmp_path: Path) -> None:
    """Unknown kinds and parameters, no rows, and cells that would mix several runs."""
    file = tmp_path / "a.png"
    with pytest.raises(InvalidExperimentError, match='did you mean "pareto"'):
        plot("paretto", some_rows(), [file])
    with pytest.raises(InvalidExperimentError, match="no rows"):
        plot("lines", [], [file])
    with pytest.raises(InvalidExperimentError, match="no row has 'effort'"):
        plot("heat-map:x=effort", some_rows(), [file])
    with pytest.raises(InvalidExperimentError, match="choose other sides"):
        plot("heat-map:x=ib_switches", some_rows(), [file])
    with pytest.raises(ExportError, match="unknown ending"):
        plot("lines", some_rows(), [tmp_path / "a.gif"])
    assert not list(tmp_path.iterdir())


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("kind", every(5, KINDS))
def test_names_are_never_parsed_as_mathematics(kind: str, tmp_path: Path) -> None:
    """A file a$b_{$.yaml, a parameter $x_{$ and such a title are drawn as they are written."""
    odd = "a$b_{$"
    rows = [
        replace(row, cluster=odd, topology=f"{odd}{row.gpus}", parameters={"note": "$x_{$"})
        for row in some_rows()
    ]
    (file,) = plot(kind, rows, [tmp_path / "a.svg"], title=odd)
    assert odd in file.read_text()


def noting(titles: list[str]) -> Callable[[object, str], pictures.Figure]:
    """Draw nothing, and note the titles."""

    def render(_: object, title: str) -> pictures.Figure:
        titles.append(title)
        return pictures.Figure()

    return render


def test_simulated_figures_state_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In its title, once; a figure of anything else does not."""
    titles: list[str] = []
    monkeypatch.setattr("experiments.figures.matplotlib_renderer.render", noting(titles))
    sizes = {"1024": {"algbw_simulated_gb_s": 1.0, "time_pipelined_s": 1.0}}
    rows = [replace(row, sizes=sizes, simulated="alpha 5 us") for row in some_rows()]
    for column in ("algbw_simulated_gb_s", "time_pipelined_s"):
        plot(f"lines-by-size:y={column}", rows, [tmp_path / "figure.png"], "Title")
    assert titles == ["Title. Simulated: alpha 5 us", "Title"]


def test_size_dependent_measures_of_one_size_are_drawn_over_gpus(tmp_path: Path) -> None:
    """The title names it; with two sizes it would be unclear which is which."""
    titles: list[str] = []
    one = {"1024": {"time_pipelined_s": 1.0}}
    rows = [replace(row, sizes=one) for row in some_rows()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.figures.matplotlib_renderer.render", noting(titles))
        plot("lines:y=time_pipelined_s", rows, [tmp_path / "figure.png"], "Title")
    assert titles == ["Title. Size: 1KB"]
    rows[0] = replace(rows[0], sizes={**one, "2048": {"time_pipelined_s": 2.0}})
    with pytest.raises(
        InvalidExperimentError, match=r"lines: time_pipelined_s .* or a single size"
    ):
        plot("lines:y=time_pipelined_s", rows, [tmp_path / "figure.png"])


COVERAGE = Coverage(Path(__file__).parents[3])

STORED = [
    name
    for name in sorted(COVERAGE.experiments)
    if (COVERAGE.root / "results" / name / "rows.jsonl").is_file()
]
SAMPLE = (
    "quickstart", "teccl-table3", "teccl-figure10", "bfb-table4", "slides-cuts",
    "forestcoll-figure11-allgather",
)  # fmt: skip


def faults_of(name: str) -> list[str]:
    """Draw every figure of an experiment, and name what cannot be read in it."""
    experiment = COVERAGE.parsed(name)
    known = {row.point: row for row in COVERAGE.rows_of(name)}
    points = (point.identity for point in experiment.points)
    rows = [known[point] for point in points if point in known]
    return [
        f"{kind}: {fault}"
        for kind in experiment.experiment.figures
        for fault in _faults(kind, rows, experiment.experiment.title)
    ]


def _faults(kind: str, rows: Sequence[Row], title: str) -> list[str]:
    figure = parse_figure(kind)
    if figure.sized or figure.of_one_size:
        rows = [one for row in rows for one in row.by_size()]
    describe = pkgutil.resolve_name(KINDS[figure.kind].draws)
    with style():
        picture = render(describe(rows, **figure.options), titled(title, figure, rows))
        return faults(picture, MOST_ENTRIES)


@pytest.mark.parametrize("name", SAMPLE)
def test_figures_of_a_sample_are_readable(name: str) -> None:
    assert faults_of(name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in STORED if name not in SAMPLE])
def test_all_figures_of_the_stored_rows_are_readable(name: str) -> None:
    assert faults_of(name) == []


def test_the_measure_finds_what_cannot_be_read() -> None:
    """A text over another, one outside of the canvas, and a legend of too many entries."""
    lines = tuple(replace(Series(f"m{i}", STYLES["ring"]), points=(Point(1, i),)) for i in range(3))
    with style():
        picture = render(Figure((Panel("one", Axis(), Axis(), lines),)))
        assert faults(picture, 3) == []
        (axes,) = picture.axes
        axes.text(0.5, 0.5, "first", transform=axes.transAxes)
        axes.text(0.5, 0.5, "second", transform=axes.transAxes)
        axes.text(-3, 0.5, "far", transform=axes.transAxes)
        found = faults(picture, 2)
    assert found == ["outside: 'far'", "overlap: 'first' and 'second'", "legend: 3 entries"]
