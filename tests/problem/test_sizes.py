"""Sizes of the data are exact numbers of bytes."""

import pytest

from forestcoll.problem.sizes import MOST_BYTES, MOST_SIZES, read_size, read_sizes, size_text


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
    """As in nccl-tests; a tenth of 2**40 is not a whole number."""
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


def test_a_byte_is_a_size() -> None:
    """The least: as a number, as text, and as the begin of a range; nothing is none."""
    assert (read_size(1), read_size("1"), read_size("1B")) == (1, 1, 1)
    assert read_sizes(["1..4"]) == [1, 2, 4]
    assert read_size(MOST_BYTES) == MOST_BYTES
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES} are allowed"):
        read_size(MOST_BYTES + 1)
    with pytest.raises(ValueError, match="which is 0 bytes; a size is a whole number from 1"):
        read_size("0KB")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"from": "1KB", "to": "2KB", "by": 2}, "has a range with 'by'; known: from, to, factor"),
        ({"from": "1KB"}, 'has a range without "from" or "to"; add it'),
        ({"to": "1KB"}, 'has a range without "from" or "to"; add it'),
        ({"factor": 3}, 'has a range without "from" or "to"; add it'),
        ({"from": "2KB", "to": "1KB"}, "has a range from 2KB to 1KB; exchange its two ends"),
        ({"from": "1KB", "to": "2KB", "factor": 1}, "by the factor 1; it must be a whole number"),
        ({"from": "1KB", "to": "2KB", "factor": True}, "by the factor True; it must be a whole"),
        ({"from": "1KB", "to": "2KB", "factor": 2.5}, "by the factor 2.5; it must be a whole"),
    ],
)
def test_a_range_that_is_none_says_why(given: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_sizes([given])


def test_a_list_has_each_size_once_and_not_too_many() -> None:
    with pytest.raises(ValueError, match="has 2KB twice; keep one"):
        read_sizes(["1KB..4KB", 2048])
    most = list(range(1, MOST_SIZES + 1))
    assert read_sizes(most) == most
    with pytest.raises(ValueError, match=f"has over {MOST_SIZES} sizes; take a larger factor"):
        read_sizes([*most, MOST_SIZES + 1])


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1"), (1023, "1023"), (2048, "2KB"), (3 * 2**29, "1536MB"), (2**40, "1TB")],
)
def test_a_size_is_written_in_the_largest_unit_that_leaves_it_whole(size: int, text: str) -> None:
    assert size_text(size) == text
