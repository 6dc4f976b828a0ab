"""Links by columns: the same as objects, in order, merged, reversed and paired."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.topology.link_columns import Link, LinkColumns

_NODES = 6
_NUMBERS = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 2), Fraction(10**30)])
_LINKS = st.lists(
    st.builds(
        Link,
        st.integers(0, _NODES - 1),
        st.integers(0, _NODES - 1),
        _NUMBERS,
        st.sampled_from([Fraction(0), Fraction(1, 2)]),
    ),
    max_size=20,
)


@given(_LINKS)
def test_columns_give_back_their_links(links: list[Link]) -> None:
    columns = LinkColumns.of(links)
    assert columns.links() == tuple(links)
    assert len(columns) == len(links)
    assert {type(end) for link in columns.links() for end in (link.tail, link.head)} <= {int}


def test_equal_numbers_have_one_place_though_they_are_other_objects() -> None:
    links = [Link(0, 1, Fraction(2 * i, i), Fraction(i - i)) for i in (1, 2, 3)]
    assert LinkColumns.of(links).kinds == ((Fraction(2), Fraction(0)),)


@given(_LINKS)
def test_parallel_links_become_one(links: list[Link]) -> None:
    """Against a sum link by link: bandwidths add up, the largest latency stays, ends ascend."""
    due: dict[tuple[int, int], Link] = {}
    for link in links:
        known = due.get((link.tail, link.head))
        bandwidth = link.bandwidth_gb_s + (known.bandwidth_gb_s if known else 0)
        latency = max(link.latency_us, known.latency_us) if known else link.latency_us
        due[link.tail, link.head] = Link(link.tail, link.head, bandwidth, latency)
    columns = LinkColumns.of(links)
    merged = columns.take(columns.order()).merged()
    assert merged.links() == tuple(due[ends] for ends in sorted(due))
    assert len(set(merged.kinds)) == len(merged.kinds)


@given(_LINKS)
def test_links_are_found_by_their_ends(links: list[Link]) -> None:
    """All pairs of nodes are looked up, and one before all of them."""
    columns = LinkColumns.of(links)
    columns = columns.take(columns.order()).merged()
    place = {(link.tail, link.head): i for i, link in enumerate(columns.links())}
    assert columns.pairs() == place.keys()
    ends = [(-1, 0), *((tail, head) for tail in range(_NODES) for head in range(_NODES))]
    tail, head = np.array(ends).T
    due = [place.get(pair, len(columns)) for pair in ends]
    assert columns.places_of(tail, head).tolist() == due


@given(_LINKS)
def test_reversed_links_are_in_the_order_of_their_new_ends(links: list[Link]) -> None:
    columns = LinkColumns.of(links)
    columns = columns.take(columns.order()).merged()
    due = [
        Link(link.head, link.tail, link.bandwidth_gb_s, link.latency_us) for link in columns.links()
    ]
    assert columns.reversed().links() == tuple(sorted(due, key=lambda e: (e.tail, e.head)))


@given(_LINKS, st.data())
def test_reverses_come_behind_the_links(links: list[Link], data: st.DataObject) -> None:
    which = data.draw(st.lists(st.booleans(), min_size=len(links), max_size=len(links)))
    back = [
        Link(link.head, link.tail, link.bandwidth_gb_s, link.latency_us)
        for link, chosen in zip(links, which, strict=True)
        if chosen
    ]
    columns = LinkColumns.of(links).both_ways(np.array(which, dtype=bool))
    assert columns.links() == (*links, *back)


@given(_LINKS)
def test_of_twins_the_first_is_left(links: list[Link]) -> None:
    columns = LinkColumns.of([link for link in links if link.tail != link.head])
    columns = columns.take(columns.order()).merged()
    there = set(columns.links())
    due = [
        (link, twin in there)
        for link in columns.links()
        if (twin := Link(link.head, link.tail, link.bandwidth_gb_s, link.latency_us)) not in there
        or link.tail < link.head
    ]
    places, both = columns.without_twins()
    assert list(zip(columns.take(places).links(), both.tolist(), strict=True)) == due


@given(_LINKS)
def test_whole_bandwidths_are_in_proportion(links: list[Link]) -> None:
    columns = LinkColumns.of(links)
    denominator, whole = columns.whole_bandwidths()
    found = [Fraction(whole[kind], denominator) for kind in columns.kind.tolist()]
    assert found == [link.bandwidth_gb_s for link in links]


def test_a_kind_without_links_has_no_part_in_the_denominator() -> None:
    columns = LinkColumns.of([Link(0, 1, Fraction(1, 7)), Link(1, 0, Fraction(1, 2))])
    assert columns.whole_bandwidths() == (14, [2, 7])
    assert columns.take(np.array([1])).whole_bandwidths() == (2, [0, 1])


_THREE = (Link(0, 1, Fraction(1)), Link(1, 2, Fraction(2)), Link(2, 0, Fraction(1)))


def test_equality_is_of_links_not_of_tables() -> None:
    """The same links from two orders have their numbers at other places of the table."""
    first = LinkColumns.of(_THREE)
    second = LinkColumns.of(_THREE[::-1]).take(np.array([2, 1, 0]))
    assert first.kinds != LinkColumns.of((_THREE[1], *_THREE)).kinds
    assert first == second
    assert first == LinkColumns.of((_THREE[1], *_THREE)).take(np.array([1, 2, 3]))


@pytest.mark.parametrize(
    "change",
    [
        lambda links: links[:2],
        lambda links: (*links[:2], Link(2, 1, Fraction(1))),
        lambda links: (*links[:2], Link(1, 0, Fraction(1))),
        lambda links: (*links[:2], Link(2, 0, Fraction(2))),
        lambda links: (*links[:2], Link(2, 0, Fraction(3))),
        lambda links: (*links[:2], Link(2, 0, Fraction(1), Fraction(1))),
    ],
)
def test_other_links_are_not_equal(change: Callable[[tuple[Link, ...]], tuple[Link, ...]]) -> None:
    assert LinkColumns.of(_THREE) != LinkColumns.of(change(_THREE))
    assert LinkColumns.of(_THREE) != _THREE
