"""Stored results get current names: no value changes, and points are found again."""

import json

import pytest

from experiments.config.points import identity_of
from experiments.results.migration import current_row, migrate
from experiments.results.rows import Row, read_rows
from forestcoll.errors import InvalidExperimentError
from tests.command_line import invoke
from tests.experiments.samples import rings_of_rows as some_rows


def _former(row: Row) -> dict[str, object]:
    """Return a row as the version before the current one wrote it."""
    columns = row.as_dict()
    columns["height"] = columns.pop("depth")
    columns["algbw_in_steps_gb_s"] = columns.pop("algbw_synchronous_gb_s")
    columns["algbw_in_steps"] = columns.pop("algbw_synchronous")
    return columns


def _written(folder, rows):
    folder.mkdir(parents=True)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_the_version_before_are_read_and_migrated(tmp_path):
    """Both ways lead to the same rows; a second migration finds nothing to do."""
    rows = some_rows()
    path = _written(tmp_path / "old", map(_former, rows))
    assert read_rows(path) == rows
    (changed,) = migrate(tmp_path)
    assert (changed.path, changed.rows) == (path, len(rows))
    assert read_rows(path) == rows
    assert '"height"' not in path.read_text()
    assert migrate(tmp_path) == []


def test_times_of_sizes_are_renamed():
    """``time_flowing_s`` of an earlier version is ``time_pipelined_s`` now, at each size."""
    sizes = {"1024": {"time_flowing_s": 1.5, "time_in_steps_s": 2.5}}
    current = {"1024": {"time_pipelined_s": 1.5, "time_synchronous_s": 2.5}}
    assert current_row({"sizes": sizes}) == {"sizes": current}


def test_parameters_are_renamed_and_their_point_is_found_again():
    """A point is a hash over its parameters: the new hash is that of the new names."""
    row = {
        "experiment": "e",
        "collective": "allgather",
        "topology": "ring:nodes=4",
        "method": "teccl",
        "parameters": {"chunks": 1, "whole_chunks": True},
        "repetition": 0,
    }
    row["point"] = identity_of(row)
    new = current_row(row)
    assert new["parameters"] == {"chunks": 1, "milp": True}
    assert new["point"] == identity_of(new) != row["point"]


def test_a_point_that_the_row_alone_does_not_give_keeps_its_hash():
    row = {"point": "0123456789abcdef", "parameters": {"max_height": 3}}
    assert current_row(row) == {"point": "0123456789abcdef", "parameters": {"max_depth": 3}}


def test_other_pieces_keep_their_name():
    """The pieces of BFB are parts of shards, not pipeline chunks."""
    row = {"method": "bfb", "parameters": {"pieces": 3}}
    assert current_row(row) == row


def test_assumptions_of_simulations_use_the_current_terms():
    row = {"simulated": "alpha 10 us, fair sharing, best pieces"}
    assert current_row(row)["simulated"] == "alpha 10 us, fair sharing, best pipeline chunks"


def test_headings_of_tables_are_renamed_and_nothing_else(tmp_path):
    table = tmp_path / "summary.csv"
    table.write_text('topology,height\n"height, of a box",height\n')
    migrate(tmp_path)
    assert table.read_text() == 'topology,depth\n"height, of a box",height\n'


def test_a_line_cut_short_by_a_kill_is_left_for_the_next_run(tmp_path):
    path = _written(tmp_path / "old", [_former(some_rows()[0])])
    with path.open("a") as file:
        file.write('{"height": 2')
    migrate(tmp_path)
    assert path.read_text().endswith('\n{"height": 2')


def test_the_command_names_each_file(tmp_path):
    path = _written(tmp_path / "old", [_former(some_rows()[0])])
    result = invoke("results", "migrate", tmp_path)
    assert result.exit_code == 0
    assert result.stdout == f"renamed in {path}: 1\n1 files changed\n"


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_results_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidExperimentError, match=f"{name}: no "):
        migrate(tmp_path / name)


def test_a_line_that_is_not_json_names_its_place(tmp_path):
    path = _written(tmp_path / "old", [])
    path.write_text("nonsense\n")
    with pytest.raises(InvalidExperimentError, match=r"rows.jsonl, line 1: not JSON"):
        migrate(tmp_path)
