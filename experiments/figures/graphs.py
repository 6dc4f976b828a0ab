"""Graphs of the BFB paper: steps against time, and both against the number of GPUs.

T_L is the number of steps, T_B the bandwidth runtime. Each graph has a short name, as papers write
it, such as L2(K4,4) for the line graph of the line graph of K4,4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from baselines.direct_connect.bfb.theory import least_steps, least_time
from experiments.config.kinds import AXES
from experiments.figures import hover
from experiments.figures.figure import INK, Axis, Bar, Figure, Panel, Point, Series, Style
from experiments.figures.panels import grouped, optimal_time, optimum, ordinate
from experiments.figures.styles import COLOURS, LIMIT, OPTIMUM, Palette, palette_of
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import medians, medians_along, scaling_series
from experiments.results.rows import Row, Status
from forestcoll.topology import FAMILIES

__all__ = ["bars_by_topology", "by_graph", "short_name", "steps_against_time"]

_MOST_PANELS = 6

_FEW = 12
"""Points of a line from which its markers are dots without a line."""

_MARKERS = "os^Dv*PX"

_DOTS = (("o", 1.8), ("x", 2.6), ("|", 3.0), ("_", 3.0))
"""Markers of many points and their sizes: a dot and strokes, which differ in grey."""

_STROKE = Style(INK, marker="|", size=8, order=3)

_FORMS = {
    "generalized_kautz": "GK({degree},{nodes})",
    "de_bruijn": "DBJ({degree},{length})",
    "modified_de_bruijn": "DBJMod({degree},{length})",
    "complete": "K{nodes}",
    "complete_bipartite": "K{degree},{degree}",
    "circulant": "C({nodes},{{{offsets}}})",
    "directed_circulant": "DC({degree})",
    "hamming": "H({dimensions},{letters})",
    "diamond": "Diamond",
    "distance_regular": "{graph}",
    "line_graph": "L{times}({of})",
    "cartesian_power": "({of})^{exponent}",
    "degree_expansion": "{of}*{times}",
}
"""Short names of families, from their parameters."""


def steps_against_time(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Describe T_L against T_B: a marker for each graph and method, with the graph's name.

    Each number of GPUs has a panel; many of them share one. Lines are Moore's bound on the steps
    and the least T_B. The name stands at the quickest method.
    """
    done = [row for row in rows if row.status is Status.OK and row.bandwidth_runtime is not None]
    palette = palette_of(done)
    sizes = sorted({row.gpus for row in done if row.gpus})
    groups = {f"{size} GPUs": [row for row in done if row.gpus == size] for size in sizes}
    if len(groups) > _MOST_PANELS or all(len(_topologies(its)) == 1 for its in groups.values()):
        groups = {f"{sizes[0]} to {sizes[-1]} GPUs" if sizes else "": done}
    panels = [_panel(title, its, (x, y), palette) for title, its in groups.items()]
    width = 5.0 if len(panels) == 1 else 2.0
    return Figure(tuple(panels), size=(width, 3.0 if len(panels) == 1 else 2.0))


def _topologies(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.topology for row in rows))


def _panel(title: str, rows: Sequence[Row], columns: tuple[str, str], palette: Palette) -> Panel:
    x, y = columns
    points: dict[str, list[Point]] = {name: [] for name in palette}
    for topology, its in grouped(rows, "topology").items():
        best = min(its, key=lambda row: (row.bandwidth_runtime or 0.0, _steps(row)))
        for row in its:
            name = short_name(topology) if row is best else ""
            place = (row.bandwidth_runtime or 0.0, float(_steps(row)))
            points[row.series].append(Point(*place, hover.of_runs([row]), name))
    methods = tuple(
        Series(name, replace(palette[name], line="", size=5.5), tuple(its))
        for name, its in points.items()
        if its
    )
    along = replace(ordinate(x, "T_B (M/B)"), margin=0.4, from_zero=False)
    up = replace(ordinate(y, "T_L (steps)"), margin=0.2, from_zero=False)
    return Panel(title, along, up, (*_bounds(rows), *methods))


def _steps(row: Row) -> int:
    """Return the steps; a forest has as many as the depth of its deepest tree."""
    return row.steps or row.depth or 0


def _bounds(rows: Sequence[Row]) -> Iterator[Series]:
    """Yield the least steps and the least T_B, where all graphs have as many GPUs and links."""
    sizes = {row.gpus for row in rows if row.gpus}
    sent = ((row.bandwidth_runtime or 0.0) * (row.algbw_synchronous_gb_s or 0.0) for row in rows)
    degrees = {round(rate, 6) for rate in sent}
    if len(sizes) != 1 or len(degrees) != 1:
        return
    size, degree = sizes.pop(), degrees.pop()
    phases = 2 if any(row.collective == "allreduce" for row in rows) else 1
    time = phases * float(least_time(size))
    most = max(map(_steps, rows))
    if degree.is_integer() and degree > 1:  # links of 1 GB/s
        steps = phases * least_steps(size, int(degree))
        yield Series("Moore's bound on T_L", LIMIT, (Point(time, steps),), width=0.8)
        yield Series("least T_B", OPTIMUM, (Point(time, steps), Point(time, most)), 4, 0.25)


def by_graph(rows: Sequence[Row], y: str) -> Figure:
    """Describe a column against GPUs in one panel, with a line for each graph that grows.

    T_B is divided by the least T_B of any schedule on the same graph. Line graphs of a graph belong
    to it. Where a graph has many sizes, they are dots, as neighbours may differ much.
    """
    ratio = y == "bandwidth_runtime"
    if ratio:
        rows = [replace(row, bandwidth_runtime=_over_optimum(row)) for row in rows]
    graphs = _grown(rows)
    several = len({row.method for row in rows}) > 1
    series = []
    for number, (graph, its) in enumerate(graphs.items()):
        for place, (method, same) in enumerate(grouped(its, "method").items()):
            values = medians(same, y)
            points = tuple(
                Point(n, value, hover.of_runs([row for row in same if row.gpus == n]))
                for n, value in values.items()
            )
            style = _style(number, place, many=len(points) > _FEW)
            name = f"{graph}, {method}" if several else graph
            if points:
                series.append(Series(name, style, points, width=1.0))
    up = ordinate(y, "T_B over its optimum (ratio)" if ratio else "")
    places = tuple(row.gpus for row in rows if row.gpus)
    if ratio:
        ends = tuple(Point(n, 1.0, "optimum") for n in sorted({*places}))
        series.insert(0, Series("optimum", OPTIMUM, ends, 4, 0.25))
    many = any(len(one.points) > _FEW for one in series[1:])
    panel = Panel("", Axis(AXES["gpus"], "doubling", places), up, tuple(series))
    return Figure((panel,), size=(5.0, 2.6) if many else (3.1, 2.4))


def bars_by_topology(rows: Sequence[Row], y: str) -> Figure:
    """Describe a column as a bar for each topology, with the optimum as a stroke.

    Several methods have a panel each.
    """
    palette = palette_of(rows)
    found = []
    for name, style in palette.items():
        its = [row for row in rows if row.series == name]
        topologies = _topologies(its)
        bars, best = [], []
        for place, topology in enumerate(topologies):
            same = [row for row in its if row.topology == topology]
            value = medians_along(((row, 0) for row in same), y).get(0)
            if value is not None:
                beside = f"{value:.3g}"
                text = hover.of_runs(same)
                bars.append(Bar(place, 0.75, 0.0, value, style, beside=beside, text=text))
            best += [Point(point.x, place, point.text) for point in _optimum(same, y)]
        names = tuple(map(short_name, topologies))
        up = Axis(names=names, short_names=names, downwards=True)
        along = Axis(DRAWN[y].axis, margin=0.1)
        marks = (Series("optimum", _STROKE, tuple(best)),) if best else ()
        found.append(Panel(name, along, up, marks, tuple(bars)))
    lines = max((len(panel.y.names) for panel in found), default=0)
    return Figure(tuple(found), size=(5.0, 0.6 + 0.15 * max(3, lines)))


def _optimum(rows: Sequence[Row], y: str) -> Iterator[Point]:
    for one in optimum([(row, 1.0) for row in rows], y):
        yield from (replace(point, x=point.y) for point in one.points)


def _style(graph: int, method: int, *, many: bool) -> Style:
    colour, marker = COLOURS[graph % len(COLOURS)], _MARKERS[graph % len(_MARKERS)]
    if many:
        dot, size = _DOTS[graph % len(_DOTS)]
        return Style(colour, marker=dot, size=size)
    line, fill = (("-", "full"), (":", "none"))[method % 2]
    return Style(colour, marker=marker, line=line, fill=fill, size=4.5)  # type: ignore[arg-type]


def _grown(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    """Group graphs that grow out of each other: by their base, or by their cluster."""
    if any(_base(row.topology) != row.topology for row in rows):
        found: dict[str, list[Row]] = {}
        for row in rows:
            found.setdefault(short_name(_base(row.topology)), []).append(row)
        return found
    return grouped(scaling_series(rows), "cluster")


def _base(topology: str) -> str:
    """Return the graph of which a topology is a repeated line graph; itself if it is none."""
    family, parameters = _parts(topology)
    return parameters["of"] if family == "line_graph" else topology


def _over_optimum(row: Row) -> float | None:
    least = optimal_time(row)
    return row.bandwidth_runtime / least if least and row.bandwidth_runtime else None


def short_name(topology: str) -> str:
    """Return the short name of a graph.

    Examples
    --------
    >>> short_name("line_graph:of=(circulant:nodes=16,offsets=3+4),times=3")
    'L3(C(16,{3,4}))'
    >>> short_name("torus:dims=4x4")
    'torus:dims=4x4'
    """
    family, given = _parts(topology)
    if family == "ring":
        return (
            f"{'Bi' if given.get('bidirectional', 'true') == 'true' else 'Uni'}R({given['nodes']})"
        )
    if family == "cartesian_product":
        factors = Counter(map(short_name, re.findall(r"ring:[^()]*", given["of"])))
        return " x ".join(f"{name}^{n}" if n > 1 else name for name, n in factors.items())
    if family not in _FORMS:
        return topology
    words = {name: value.replace("+", ",") for name, value in given.items()}
    if "of" in given:
        words["of"] = short_name(given["of"])
    if family == "line_graph" and given.get("times", "1") == "1":
        words["times"] = ""
    return _FORMS[family].format(**words)


def _parts(topology: str) -> tuple[str, dict[str, str]]:
    """Split a specification into its family and its parameters, with defaults."""
    family, _, text = topology.partition(":")
    if family not in FAMILIES:
        return family, {}
    given = {p.name: p.default_text for p in FAMILIES[family].parameters if not p.required}
    depth, part, parts = 0, "", []
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += letter
    for one in (*parts, part):
        name, equals, value = one.partition("=")
        if equals:
            given[name] = value[1:-1] if _single(value) else value
    return family, given


def _single(value: str) -> bool:
    """Whether one pair of parentheses encloses all of a value."""
    depth = 0
    for place, letter in enumerate(value):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return letter == ")" and place == len(value) - 1
    return False
