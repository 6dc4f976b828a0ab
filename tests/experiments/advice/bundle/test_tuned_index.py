"""What tuning wrote, read back."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from experiments.advice.bundle.tuned_index import read_tuned
from forestcoll.errors import InvalidScheduleError
from tests.experiments.advice.bundle.tuned_ring import METHODS, rewritten, tuned


def test_the_index_has_the_tuned_ranges_and_model(tmp_path: Path) -> None:
    found = read_tuned(tuned(tmp_path / "tuned"))
    assert [one.use for one in found.ranges] == ["direct", "bfb"]
    assert {one.size_bytes for one in found.sizes} >= {2**10, 2**15, 2**20}
    assert found.methods == METHODS
    assert found.method_of("bfb") == "bfb"
    assert (found.model.alpha, found.model.gamma) == (Fraction(10), 0)
    assert found.complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda index: index.update(format="x"), "format: input should be 'forestcoll-tuning'"),
        (lambda index: index.update(ranges=[]), "ranges: tuple should have at least 1 item"),
        (lambda index: index["ranges"][0].update(file=None), "ranges.0.file: input should be"),
        (lambda index: index["ranges"][0].update(file="../x"), "ranges.0.file: string should"),
        (lambda index: index["ranges"].reverse(), "its ranges are not in order; tune again"),
        (lambda index: index["ranges"][0].update(use="x"), "a range uses 'x', which is not a cand"),
        (lambda index: index["alpha_us"].update(exact="ten"), "alpha_us.exact: string should"),
        (lambda index: index["ranges"][0].update(by_plan=True), "tune again with --no-plans"),
        (lambda index: index["sizes"][0].update(by_plan=True), "tune again with --no-plans"),
    ],
)
def test_other_files(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    folder = rewritten(tuned(tmp_path / "tuned"), change)
    with pytest.raises(InvalidScheduleError, match=f"index.json: .*{message}"):
        read_tuned(folder)


def test_a_folder_without_one_is_reported(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidScheduleError, match=r"has no index\.json; name a folder that forest"
    ):
        read_tuned(tmp_path)
