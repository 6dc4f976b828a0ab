"""Importer of the tables that ``rocm-smi --showtopo`` prints.

Problem: which GPUs of an AMD machine share an xGMI link, and how wide it is.
Input:   tables of hops and link types; optionally that of ``--shownodesbw`` (MB/s, least and
         most) and ``--showproductname`` (``GFX Version: gfx942``) in the same file.
Output:  a :class:`Host` with a link for each pair of type XGMI that has a bandwidth, or one hop.
Cost:    the size of the tables.
Source:  ROCm's ``rocm_smi.py``. The weight is a distance (15 a hop) and no width: on an MI250,
         pairs have 1, 2 or 4 links of one weight, so its file is read with the bandwidths only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.host import Host, HostLink, both_ways
from forestcoll.topology.importers.supplied import MissingFactError, Supplied
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["host_from_rocm"]

_MOST_GPUS = 256
_TITLE = re.compile(r"=+ ?([A-Za-z][A-Za-z ]{0,60}?) ?=+")
_GPU = re.compile(r"GPU[0-9]{1,3}")
_VERSION = re.compile(r".{0,20}GFX Version:\s*(gfx[0-9a-f]{3,4})")
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_TYPES, _HOPS, _WIDTHS = "link type between two gpus", "hops between two gpus", "bandwidth"
_SINGLE = {"gfx906", "gfx908", "gfx942", "gfx950"}
"""Kinds whose pairs have one link, if any."""

_Table = Mapping[str, tuple[Line, Sequence[str]]]


def host_from_rocm(text: str, source: str, name: str, supplied: Supplied) -> Host:
    """Read the output of ``rocm-smi --showtopo``.

    Raises
    ------
    InvalidTopologyError
        If a table or row is missing, the GPUs have PCIe only, or widths of links are unknown.
    """
    tables, kinds = _tables(text, source)
    pairs = _linked_pairs(tables, source)
    if not pairs:
        raise InvalidTopologyError(
            f"{source}: has no xGMI links, and no speeds of PCIe links; give a dump of "
            f"NCCL_TOPO_DUMP_FILE instead"
        )
    gpus = list(tables[_TYPES])
    kind = supplied.kind_of_gpus() or (kinds.pop() if len(kinds) == 1 else None)
    notes = ["rocm-smi lists no NICs; a dump of NCCL_TOPO_DUMP_FILE has them."]
    if supplied.rates is None and _WIDTHS in tables:
        notes.append("xGMI links have the greatest bandwidth that rocm-smi prints.")
    links: list[HostLink] = []
    for one, other in pairs:
        width = _width(tables, gpus, (one, other), kind, source, supplied)
        links += both_ways(one.lower(), other.lower(), width)
    return Host(name, tuple(gpu.lower() for gpu in gpus), (), tuple(links), (), (), tuple(notes))


def _linked_pairs(tables: dict[str, _Table], source: str) -> list[tuple[str, str]]:
    """Return the pairs that share xGMI links; drops a table of bandwidths that are all 0."""
    if _TYPES not in tables:
        raise InvalidTopologyError(
            f"{source}: has no table {_TYPES!r}; write it with rocm-smi --showtopo"
        )
    gpus = list(tables[_TYPES])
    pairs = [p for p in combinations(gpus, 2) if _cell(tables[_TYPES], gpus, *p) == "XGMI"]
    if _WIDTHS in tables:
        wide = [p for p in pairs if _cell(tables[_WIDTHS], gpus, *p) != "0-0"]
        if wide:
            return wide
        del tables[_WIDTHS]  # some releases print 0-0 for every pair
    if pairs and _HOPS not in tables:
        raise InvalidTopologyError(
            f"{source}: has no table {_HOPS!r}; write it with rocm-smi --showtopo"
        )
    return [p for p in pairs if _cell(tables[_HOPS], gpus, *p) == "1"]


def _tables(text: str, source: str) -> tuple[dict[str, _Table], set[str]]:
    """Return the tables by their titles in small letters, and the kinds of GPUs."""
    tables: dict[str, dict[str, tuple[Line, Sequence[str]]]] = {}
    kinds: set[str] = set()
    title, columns = "", 0
    for line in text_lines(text, source):
        words = line.text.split()
        if match := _TITLE.fullmatch(line.text.strip()):
            title, columns = match[1].lower(), 0
        elif match := _VERSION.fullmatch(line.text):
            kinds.add(match[1])
        elif title in (_TYPES, _HOPS, _WIDTHS) and _GPU.fullmatch(words[0]):
            if not columns:
                columns = len(words)
                if columns > _MOST_GPUS:
                    raise line.fault(f"over {_MOST_GPUS} GPUs; give one file a machine")
                tables[title] = {}
            elif len(words) != columns + 1 or words[0] in tables[title]:
                raise line.fault(
                    f"{words[0]} has {len(words) - 1} entries for {columns} GPUs or is there "
                    f"twice; write the file again"
                )
            else:
                tables[title][words[0]] = (line, words[1:])
    for table, rows in tables.items():
        if len(rows) != len(next(iter(rows.values()))[1] if rows else [0]):
            raise InvalidTopologyError(
                f"{source}: the table {table!r} lacks rows; the file may be cut off, write it again"
            )
    return dict(tables), kinds


def _cell(table: _Table, gpus: Sequence[str], one: str, other: str) -> str:
    """Return an entry, which must be the same both ways."""
    found = []
    for here, there in ((one, other), (other, one)):
        if here not in table or len(table[here][1]) != len(gpus):
            raise InvalidTopologyError(
                f"{table[next(iter(table))][0].source}: the tables are of different GPUs; write "
                f"the file again"
            )
        found.append(table[here][1][gpus.index(there)])
    if found[0] != found[1]:
        raise table[one][0].fault(
            f"{one} and {other} have {found[0][:20]!r} and {found[1][:20]!r} to each other; write "
            f"the file again"
        )
    return found[0]


def _width(
    tables: Mapping[str, _Table],
    gpus: Sequence[str],
    pair: tuple[str, str],
    kind: str | None,
    source: str,
    supplied: Supplied,
) -> Fraction:
    """Return the bandwidth of a pair's links."""
    count = Fraction(1)
    if _WIDTHS in tables:
        line, _ = tables[_WIDTHS].get(pair[0], next(iter(tables[_WIDTHS].values())))
        match = _RANGE.fullmatch(_cell(tables[_WIDTHS], gpus, *pair))
        if match is None or not 0 < int(match[1]) <= int(match[2]):
            raise line.fault(f"{pair[0]} and {pair[1]} have no bandwidth; write the file again")
        if supplied.rates is None:
            return Fraction(int(match[2]), 1000)
        count = Fraction(int(match[2]), int(match[1]))
    if kind is None:
        raise MissingFactError(
            f"{source}: does not have the kind of its GPUs; give it, such as --gpu gfx942 or --gpu "
            f"MI300X",
            "--gpu",
            {"gpu": "gfx942"},
        )
    if _WIDTHS not in tables and kind not in _SINGLE:
        raise InvalidTopologyError(
            f"{source}: pairs of {kind} have 1 to 4 links, which it does not count; append the "
            f"output of rocm-smi --shownodesbw, or give a dump of NCCL_TOPO_DUMP_FILE"
        )
    return count * supplied.expect_rates(source).of(f"xgmi.{kind}", source)
