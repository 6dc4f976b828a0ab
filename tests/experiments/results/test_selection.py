"""Where results are, and which of their rows one wants."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.results.frames import to_frame
from experiments.results.rows import RowFile, Status
from experiments.results.selection import grouped, load_results, select
from forestcoll.errors import InvalidExperimentError
from tests.experiments.samples import clusters_of_rows
from tests.experiments.samples import rings_of_rows as some_rows


def test_columns_of_a_later_version_do_not_matter(tmp_path: Path) -> None:
    """Old code reads new rows, as lines and as parquet."""
    rows = some_rows()
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(f'{row.to_json()[:-1]}, "mood": "good"}}\n' for row in rows))
    assert load_results(lines) == rows
    parquet = tmp_path / "rows.parquet"
    to_frame(rows).assign(mood="good").to_parquet(parquet)
    assert load_results(parquet) == rows


def test_results_are_a_folder_or_a_file_of_rows(tmp_path: Path) -> None:
    """The last row of each point counts."""
    rows = some_rows()
    early = replace(rows[0], status=Status.TIMEOUT)
    with RowFile(tmp_path / "toy" / "rows.jsonl") as file:
        for row in (early, *rows):
            file.append(row)
    assert load_results(tmp_path / "toy") == load_results(tmp_path / "toy" / "rows.jsonl") == rows


def test_places_without_rows_are_refused_with_folders_that_have_some(tmp_path: Path) -> None:
    for name in ("b", "a"):
        with RowFile(tmp_path / name / "rows.jsonl") as file:
            file.append(some_rows()[0])
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "bare").mkdir()
    for place, message in (
        (tmp_path / "none", "there is no such folder or file; give the results' folder"),
        (tmp_path, "no rows.jsonl in this folder; give one of those inside it: a, b"),
        (tmp_path / "bare", "no rows.jsonl in this folder"),
        (tmp_path / "empty.jsonl", "there are no rows in it yet"),
    ):
        with pytest.raises(InvalidExperimentError) as caught:
            load_results(place)
        assert message in str(caught.value)


def test_rows_match_one_word_of_each_kind() -> None:
    """Methods with or without parameters, topologies or clusters, and statuses; all together."""
    rows = some_rows()

    def chosen(**words: list[str] | list[Status]) -> list[str]:
        return [row.point for row in select(rows, **words)]  # type: ignore[arg-type]

    assert chosen() == [row.point for row in rows]
    assert chosen(methods=["ring"]) == ["ring3-0", "ring4-0"]
    assert chosen(methods=["ring (effort=2*", "multi*"]) == [row.point for row in rows]
    assert chosen(topologies=["*=4"]) == ["ring4-0", "tree4-0"]
    assert chosen(topologies=["ring"], methods=["multitree"]) == ["tree3-0", "tree4-0"]
    assert chosen(statuses=[Status.OK], topologies=["*=3"]) == ["ring3-0"]
    assert chosen(statuses=[Status.TIMEOUT]) == []


def test_a_word_that_matches_nothing_is_a_mistake() -> None:
    with pytest.raises(InvalidExperimentError, match="no row has the method 'rnig'; did you mean"):
        select(some_rows(), methods=["ring", "rnig"])
    with pytest.raises(InvalidExperimentError, match="no row has the topology 'torus'; known: "):
        select(some_rows(), topologies=["torus"])


def test_rows_are_grouped_by_topology_for_any_order_of_finish(tmp_path: Path) -> None:
    """As jobs side by side end, and reruns follow: all that is kept is the place of each point."""
    planned = [
        replace(row, position=n, point=f"p{n}") for n, row in enumerate(clusters_of_rows(), 1)
    ]
    by_topology = [planned[n] for n in (0, 3, 1, 4, 2, 5)]
    for order in ((5, 3, 0, 4, 1, 2), (2, 1, 0, 5, 4, 3), (0, 1, 2, 3, 4, 5)):
        assert grouped([planned[n] for n in order]) == by_topology
    rows = [planned[n] for n in (4, 5, 3, 0, 1, 2)]
    (tmp_path / "rows.jsonl").write_text("".join(row.to_json() + "\n" for row in rows))
    assert load_results(tmp_path) == by_topology


def test_rows_that_do_not_know_their_place_come_as_they_are_in_the_file() -> None:
    """But by topology: those of a rerun at the end of the file join the others."""
    rows = clusters_of_rows()
    assert grouped(rows) == [rows[n] for n in (0, 3, 1, 4, 2, 5)]
    other = replace(rows[0], experiment="other")
    assert grouped([other, *rows])[0] == other
    assert grouped([*rows, other])[-1] == other
