"""Stored rows of allreduces with SHARP, as docs/papers/own-figures.md describes them."""

from fractions import Fraction
from pathlib import Path

import pytest

from experiments.results.rows import read_rows

ROWS = Path(__file__).parents[3] / "results" / "others-sharp" / "rows.jsonl"

SHARE = {"dgx_a100": Fraction(48, 49), "dgx_h100": Fraction(9, 14), "hgx_a800": Fraction(1)}
"""Of the optimum: 7/8 of the data in each phase, where the NICs allow 8/9 of a GPU's bandwidth."""


@pytest.mark.parametrize("form", ["direct", "chain"])
def test_collnet_has_the_same_share_from_two_boxes_to_eight(form: str) -> None:
    found = [row for row in read_rows(ROWS) if row.method == f"nccl-collnet-{form}"]
    assert len(found) == 8
    for row in found:
        assert Fraction(row.algbw) / Fraction(row.optimum) == SHARE[row.cluster.split(":")[0]]


def test_nvls_attains_the_optimum_of_multicast_boxes() -> None:
    found = [row for row in read_rows(ROWS) if row.method == "nccl-nvls" and row.algbw]
    assert len(found) == 3
    assert all(row.algbw == row.optimum and row.cluster.startswith("dgx_h100") for row in found)
