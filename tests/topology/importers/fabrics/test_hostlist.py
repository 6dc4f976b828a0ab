"""Slurm's lists of names."""

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabrics.hostlist import expanded_names


def names(text: str) -> list[str]:
    return expanded_names(text, InvalidTopologyError)


def test_ranges_keep_leading_zeros_and_brackets_multiply() -> None:
    assert names("node[009-011],login") == ["node009", "node010", "node011", "login"]
    assert names("r[0-1]n[1,3-4]x") == [f"r{r}n{n}x" for r in "01" for n in "134"]
    assert names("tux[0-3,12]") == ["tux0", "tux1", "tux2", "tux3", "tux12"]


@pytest.mark.parametrize("text", ["", ",", "a,", "a[1-2", "a]", "a[2-1]", "a[x]", "a[]", "a b"])
def test_wrong_lists_are_refused(text: str) -> None:
    with pytest.raises(InvalidTopologyError, match="is not a list of"):
        names(text)


@pytest.mark.parametrize(
    "text", ["n[0-999999999]", "n[0-999][0-999]", "a[0-99999],b", "n" + "[0-9]" * 400]
)
def test_too_many_names_are_refused_before_they_are_made(text: str) -> None:
    with pytest.raises(InvalidTopologyError, match="makes over 100000 names") as refused:
        names(text)
    assert len(str(refused.value)) < 200
