"""What a failure wrote: a file that its row names."""

from dataclasses import replace
from pathlib import Path

from experiments.results.logs import with_log
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows as some_rows


def test_a_failure_s_words_are_in_a_file_that_the_row_names(tmp_path: Path) -> None:
    """Not in the row itself, which is for machines; the file says which point it is of."""
    failed = replace(some_rows()[0], status=Status.FAILED, reason="it broke", stderr="Traceback\n")
    row = with_log(failed, tmp_path)
    assert row.log == "logs/p.log"
    assert "stderr" not in row.as_dict()
    text = (tmp_path / row.log).read_text()
    assert text.startswith("forestcoll on dgx_a100:boxes=2, allgather, 2026-")
    assert text.endswith("\nit broke\n\nTraceback\n")
    assert Row.from_json(row.to_json()) == row


def test_a_point_that_is_well_again_has_no_log(tmp_path: Path) -> None:
    """An old file would speak of a failure that is none any more."""
    row = some_rows()[0]
    file = tmp_path / str(with_log(replace(row, stderr="x"), tmp_path).log)
    assert file.exists()
    assert with_log(row, tmp_path) == row
    assert not file.exists()
