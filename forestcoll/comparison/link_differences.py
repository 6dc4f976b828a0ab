"""Links that two schedules load differently.

Problem: |load(e) of one - load(e) of the other|, the greatest first.
Input:   the loads of both as shares of the data, by the names of the links' ends.
Output:  every link whose load differs; a link that one network lacks has load 0 there.
Cost:    a pass over the links, and a sort of those that differ.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["LinkDifference", "LinkDifferences", "link_differences"]

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LinkDifference:
    """A link with different loads: the shares of the data in both schedules."""

    link: Ends
    first: Fraction
    second: Fraction


@dataclass(frozen=True, slots=True)
class LinkDifferences:
    """The number of links with equal loads, and the links with different ones.

    Parameters
    ----------
    others : tuple of LinkDifference
        The greatest differences first, equal ones by name.
    """

    same: int
    others: tuple[LinkDifference, ...]


def link_differences(
    first: Mapping[Ends, Fraction], second: Mapping[Ends, Fraction]
) -> LinkDifferences:
    """Compare loads link by link.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> link_differences({("a", "b"): third, ("b", "a"): third}, {("a", "b"): third}).others
    (LinkDifference(link=('b', 'a'), first=Fraction(1, 3), second=Fraction(0, 1)),)
    """
    links = first.keys() | second.keys()
    none = Fraction(0)
    others = [
        LinkDifference(link, first.get(link, none), second.get(link, none))
        for link in links
        if first.get(link, none) != second.get(link, none)
    ]
    others.sort(key=lambda one: (-abs(one.first - one.second), one.link))
    return LinkDifferences(len(links) - len(others), tuple(others))
