"""Points of small rings, and rows that they might have."""

from experiments.config.points import Limits, Point, Status
from experiments.results.rows import Row


def a_point(method: str = "ring", nodes: int = 4, **parameters: int | str) -> Point:
    topology = f"ring:nodes={nodes}"
    return Point(
        experiment="toy",
        collective="allgather",
        cluster="ring",
        topology=topology,
        source=topology,
        method=method,
        parameters=parameters,
        repetition=0,
        limits=Limits(1.0, 4.0),
    )


def a_row(point: Point, status: Status = Status.OK, **columns: object) -> Row:
    return Row.of(point, {"status": status, "time": "2026-01-01T00:00:00+00:00", **columns})
