"""Sizes of the data are exact numbers of bytes."""

from __future__ import annotations

import pytest

from forestcoll.problem.sizes import read_size, read_sizes, size_text


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("1000B", 1000),
        ("1K", 1024),
        ("1KB", 1024),
        ("1 KiB", 1024),
        ("64MB", 64 * 2**20),
        ("1.5GB", 3 * 2**29),
        ("0.1TB", None),
        ("0.3KB", None),
        ("0.000000953674316406250GB", None),
        ("0.5B", None),
        (0, None),
        ("1kb", None),
        ("1iB", None),
        ("1e9", None),
        ("-1", None),
        (True, None),
        (None, None),
        (1.5, None),
        ("٣KB", None),
    ],
)
def test_a_kilobyte_is_1024_bytes_and_every_size_whole(given: object, size: int | None) -> None:
    """As in nccl-tests; a tenth of 2**40 is no whole number."""
    if size is None:
        with pytest.raises(ValueError, match=r"^has "):
            read_size(given)
    else:
        assert read_size(given) == size
        assert read_size(size_text(size)) == size


def test_ranges_double_unless_a_factor_is_given() -> None:
    """No size is greater than the last, which is in if the steps meet it."""
    assert read_sizes(["1KB..1GB"]) == [2**power for power in range(10, 31)]
    assert read_sizes(["1KB..3KB"]) == [1024, 2048]
    assert read_sizes([{"from": "1KB", "to": "1GB", "factor": 4}]) == [
        2**power for power in range(10, 31, 2)
    ]
    assert read_sizes([7, "1KB..1KB"]) == [7, 1024]
