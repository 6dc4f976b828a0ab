"""Results are found, filtered, compared, converted and plotted from rows alone."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from experiments.results.rows import Row, RowFile, Status
from experiments.results.selection import load_results, select
from experiments.results_cli import app
from forestcoll.cli.shell import ABOVE
from tests.experiments.samples import rings_of_rows as some_rows


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes rows into a results folder."""

    def write(name: str, rows: list[Row]) -> Path:
        with RowFile(tmp_path / name / "rows.jsonl") as file:
            for row in rows:
                file.append(row)
        return tmp_path / name

    return write


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in arguments], env={"COLUMNS": "100"})


def test_show_prints_the_rows_and_why_some_have_no_numbers(folder) -> None:
    """Superseded rows are not shown: the point that timed out has been run again."""
    rows = some_rows()
    early = replace(rows[0], status=Status.TIMEOUT, reason="over 5 s")
    done = invoke("show", folder("a", [early, *rows]))
    assert done.exit_code == 0
    assert done.stdout.count("ring:nodes=3") == 2  # the table, and the reason
    assert "266.67" in done.stdout
    assert "unsupported: multitree on ring:nodes=3: no" in done.stdout
    assert "timeout" not in done.stdout


def test_show_takes_the_rows_one_asks_for(folder) -> None:
    """Filters add up; JSON is one document with the whole rows."""
    place = folder("a", some_rows())
    arguments = ["--method", "ring", "--topology", "*=4", "--status", "ok", "--json"]
    done = invoke("show", place / "rows.jsonl", *arguments)
    assert [row["point"] for row in json.loads(done.stdout)["rows"]] == ["ring4-0"]
    by_parameters = select(load_results(place), methods=["ring (effort=2*"])
    assert [row.point for row in by_parameters] == ["ring3-0", "ring4-0"]


def test_show_writes_tables_for_people_and_for_machines(folder, tmp_path: Path) -> None:
    """CSV for reading; parquet holds everything and is itself a set of results."""
    csv, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    done = invoke("show", folder("a", some_rows()), "--csv", csv, "--parquet", parquet)
    assert f"wrote {parquet}" in done.stdout
    assert len(csv.read_text().splitlines()) == 5
    assert load_results(parquet) == some_rows()


def test_compare_prints_ratios_noise_and_remarks(folder) -> None:
    """As a table and as JSON; the exit code is 0 whatever has changed."""
    rows = some_rows((3.0, 3.3), host={"name": "there"}, commit="def", algbw="250")
    a, b = folder("a", some_rows((1.0, 1.1))), folder("b", rows)
    done = invoke("compare", a, b)
    assert done.exit_code == 0
    for text in ("3.00", "2.73..3.30", "800/3 -> 250", "abc", "different hosts", "2 slower"):
        assert text in done.stdout, text
    document = json.loads(invoke("compare", a, b, "--json", "--method", "ring").stdout)
    assert [point["time_verdict"] for point in document["points"]] == ["slower", "slower"]
    assert document["points"][0]["algbw"] == ["800/3", "250"]
    assert document["points"][0]["repetitions"] == [2, 2]


def test_compare_says_when_nothing_matches_and_when_noise_is_unknown(folder) -> None:
    """Another experiment has no point in common; single runs have no spread."""
    a = folder("a", some_rows())
    others = [replace(row, experiment="other", point=f"other-{row.point}") for row in some_rows()]
    assert "no point is in both" in invoke("compare", a, folder("b", others)).stdout
    assert "set repetitions" in invoke("compare", a, a).stdout


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_plot_writes_the_file_that_is_asked_for(folder, tmp_path: Path, ending: str) -> None:
    """One file, in the format of its ending."""
    file = tmp_path / f"a.{ending}"
    done = invoke("plot", folder("a", some_rows()), "--kind", "lines:y=depth", "-o", file)
    assert done.stdout == f"wrote {file}\n"
    assert file.stat().st_size > 3000


def test_a_plot_has_the_title_of_its_experiment_by_default(folder, tmp_path: Path) -> None:
    """That of the toolkit's own file; --title gives another, even none."""
    file = tmp_path / "a.svg"
    ours = [replace(row, experiment="quickstart") for row in some_rows()]
    plot = ("plot", folder("a", ours), "--kind", "lines:y=depth", "-o", file)
    invoke(*plot)
    assert "Allgather on A100" in file.read_text()
    invoke(*plot, "--title", "")
    assert "Allgather on A100" not in file.read_text()


def test_a_plot_of_an_own_experiment_is_titled_by_its_name(folder, tmp_path: Path) -> None:
    """The toolkit has no file of it, and so no title."""
    file = tmp_path / "a.svg"
    ours = [replace(row, experiment="thesis7") for row in some_rows()]
    invoke("plot", folder("a", ours), "--kind", "lines:y=depth", "-o", file)
    assert "thesis7" in file.read_text()


def test_a_plot_of_a_column_without_values_is_refused(folder, tmp_path: Path) -> None:
    """Nothing was simulated; no file is written."""
    file = tmp_path / "a.svg"
    rows = [replace(row, sizes={"1024": {"time_pipelined_s": 1.0}}) for row in some_rows()]
    rows_of = folder("a", rows)
    plot = ("plot", rows_of, "-o", file, "--kind")
    done = invoke(*plot, "lines-by-size:y=time_simulated_s")
    assert "no row has time_simulated_s; they were not simulated" in str(done.exception)
    assert not file.exists()
    assert invoke(*plot, "lines-by-size:y=time_pipelined_s").exit_code == 0


def test_a_function_of_the_user_draws_a_figure(folder, tmp_path: Path, monkeypatch) -> None:
    """From the current folder; a missing function, or another result, is one typed line."""
    (tmp_path / "kinds_of_a_user.py").write_text(
        "from experiments.figures.figure import Axis, Figure, Panel\n"
        "def empty(rows):\n"
        "    return Figure((Panel(f'{len(rows)} rows of mine', Axis('x'), Axis('y')),))\n"
        "def wrong(rows):\n"
        "    return 7\n"
        "def faulty(rows):\n"
        "    return {}['trees']\n"
    )
    monkeypatch.chdir(tmp_path)
    plot = ("plot", folder("a", some_rows()), "-o", tmp_path / "a.svg", "--kind")
    assert invoke(*plot, "kinds_of_a_user:empty").exit_code == 0
    assert f"{len(some_rows())} rows of mine" in (tmp_path / "a.svg").read_text()
    assert "returns int; it must return" in str(invoke(*plot, "kinds_of_a_user:wrong").exception)
    raised = "faulty raised KeyError: 'trees' (kinds_of_a_user.py, line 7)"
    assert raised in str(invoke(*plot, "kinds_of_a_user:faulty").exception)
    assert "has no 'emty'" in str(invoke(*plot, "kinds_of_a_user:emty").exception)


def test_html_writes_one_page_of_several_results(folder, tmp_path: Path) -> None:
    """Of the rows that are asked for; a folder that has none yet is left out, and named."""
    folder("results/a", some_rows())
    folder("results/b", [replace(row, experiment="other") for row in some_rows()])
    folder("results/empty", [])
    file = tmp_path / "a.html"
    arguments = ["html", tmp_path / "results", "-o", file]
    done = invoke(*arguments, "--status", "ok", "--title", "Mine <i>")
    assert f"left out: {tmp_path / 'results' / 'empty'}: there are no rows" in done.output
    assert done.output.endswith(f"wrote {file}\n")
    text = file.read_text()
    assert "<title>Mine &lt;i&gt;</title>" in text
    assert "4 of 4 rows" in text
    answer = json.loads(invoke(*arguments, "--method", "ring", "--json").stdout)
    assert answer == {"experiments": 2, "rows": 4, "file": str(file)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "none"], "there is no such folder or file"),
        (["show", "."], "give one of those inside it: a"),
        (["show", "a", "--method", "rnig"], "no row has the method 'rnig'; did you mean \"ring\"?"),
        (["show", "empty.jsonl"], "there are no rows in it yet"),
        (["show", "later.jsonl"], "later.jsonl, line 1: not a row of results: status is 'paused'"),
        (["plot", "a", "--kind", "xyz", "-o", "a.png"], "unknown kind of figure 'xyz'; known: "),
        (["plot", "a", "--kind", "pareto", "-o", "a.gif"], "unknown ending; use one of .pdf"),
        (["html", "none", "-o", "a.html"], "there is no such folder or file"),
        (
            ["html", "nan.jsonl", "-o", "a.html"],
            "nan.jsonl, line 2: not a row of results: algbw_gb",
        ),
        (["html", "empty.jsonl", "-o", "a.html"], "there are no rows in it yet"),
        (["html", "a", "-o", "a.htmx"], "unknown ending; use .html"),
        (["html", "a", "-o", "empty.jsonl/a.html"], "cannot be written"),
        (["html", "a", "--status", "failed", "-o", "a.html"], "none of the 4 rows is left"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_typed_line(
    folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    """Exit code 2 for the command that adds these to its own."""
    folder("a", some_rows())
    (tmp_path / "empty.jsonl").touch()
    later = some_rows()[0].to_json().replace('"ok"', '"paused"')
    (tmp_path / "later.jsonl").write_text(f"{later}\n")
    row = some_rows()[0].to_json()
    (tmp_path / "nan.jsonl").write_text(f'{row}\n{row[:-1]}, "algbw_gb_s": NaN}}\n')
    monkeypatch.chdir(tmp_path)
    error = invoke(*arguments).exception
    assert getattr(error, "exit_code", None) == 2
    assert message in str(error)
    assert "\n" not in str(error)


def test_the_project_adds_the_commands_to_the_one_command() -> None:
    """The table of the command line leads somewhere."""
    assert ABOVE["results"].load() is app
    assert callable(ABOVE["run"].load())


def test_names_in_a_comparison_are_never_markup(folder) -> None:
    """The folders' names and the topologies are printed as they are written."""
    rows = [replace(row, topology="[/red]") for row in some_rows()[:1]]
    done = invoke("compare", folder("[/b]", rows), folder("b", rows))
    assert done.exit_code == 0, done.exception
    assert "[/red]" in done.stdout


def test_json_has_exact_numbers(folder) -> None:
    """As all commands do: the fraction and the nearest decimal."""
    answer = json.loads(invoke("show", folder("a", some_rows()), "--json").stdout)
    assert answer["rows"][0]["algbw"] == {"exact": "800/3", "value": 800 / 3}
    assert answer["rows"][0]["ratio"] == {"exact": "1", "value": 1.0}
    assert answer["rows"][1]["algbw"] is None
