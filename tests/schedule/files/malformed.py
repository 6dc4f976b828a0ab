"""Schedule files to spoil, ways to spoil them, and what is said of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import ForestCollError, InvalidScheduleError
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule
from tests.schedule.made.hand import leaves4

DOCS = Path(__file__).parents[3] / "docs"

SCHEMA = json.loads((DOCS / "schemas" / "schedule.schema.json").read_text(encoding="utf-8"))


def arrays_of(forest: object) -> dict[str, Any]:
    """All arrays that a forest holds, by name."""
    parts: dict[str, Any] = {}
    for name, value in vars(forest).items():
        if isinstance(value, np.ndarray):
            parts[name] = value
        elif name in ("sets", "shapes", "links", "routes"):
            parts |= {f"{name}.{key}": array for key, array in arrays_of(value).items()}
    return parts


def assert_equal(one: Any, other: Any) -> None:
    """Everything the forests hold is the same, to the type of their arrays."""
    assert type(one) is type(other)
    for name in ("topology", "method", "k", "congestion", "optimum"):
        assert getattr(one, name) == getattr(other, name), name
    mine, yours = arrays_of(one), arrays_of(other)
    assert mine.keys() == yours.keys()
    for name, array in mine.items():
        assert array.dtype == yours[name].dtype, name
        assert np.array_equal(array, yours[name]), name


def spoil(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], forest: AnySchedule | None = None
) -> Path:
    """Write a schedule, that of the leaves if none is given, with a change to its data."""
    path = tmp_path / "spoiled.json"
    write_schedule(forest or leaves4(), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def refused(path: Path, kind: type[ForestCollError] = InvalidScheduleError) -> str:
    """Read a file, which must fail in one line that starts with its name; return the rest."""
    with pytest.raises(kind) as caught:
        read_schedule(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def _set(*keys: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        inner: Any = document
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    return change


FIELDS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "missing field": (lambda d: d.pop("routes"), "^routes is missing"),
    "unknown field": (_set("colour", to=1), "'colour' is not in the format; the fields here are"),
}
"""Fields that there are too few or too many of."""

HEADS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "other format": (_set("format", to="topology"), "^not a schedule"),
    "no format": (lambda d: d.pop("format"), "^not a schedule"),
    "later version": (_set("version", to=4), r"^version is 4; it must be 1, 2 or 3"),
    "true version": (_set("version", to=True), r"^version is True; it must be 1"),
    "no collective": (_set("collective", to="gossip"), "collective is 'gossip'; .* allgather, "),
    "other collective": (_set("collective", to="reduce"), "collective .* 'reduce-scatter', by the"),
    "empty method": (_set("method", to=""), "^method is ''"),
    "method of two lines": (_set("method", to="a\nb"), r"^method is 'a\\nb'"),
    "k as text": (_set("k", to="1"), "^k is '1'; it must be an integer"),
    "k of zero": (_set("k", to=0), "^k is 0; it must be positive"),
    "k of 64 bits": (_set("k", to=2**63), "^k is 9223372036854775808; it must be positive and at"),
    "k with a point": (_set("k", to=1.0), "^k is 1.0; it must be an integer"),
    "congestion as number": (_set("congestion", to=1), "^congestion is 1; it must be text"),
    "congestion as decimal": (_set("congestion", to="0.5"), "^congestion is '0.5'; .*exact"),
    "congestion over zero": (_set("congestion", to="1/0"), "^congestion is '1/0'; .*exact"),
    "endless congestion": (_set("congestion", to="1" * 400), "^congestion is '1+\\.\\.\\.1+'; "),
    "other decimal": (_set("congestion_decimal", to=1.5), "^congestion_decimal is 1.5; .*1.0"),
    "decimal as text": (_set("congestion_decimal", to="1"), "^congestion_decimal is '1'"),
    "huge decimal": (_set("congestion_decimal", to=10**400), "^congestion_decimal is 1"),
    "no topology": (_set("topology", to=None), "^topology is None; it must be an object"),
    "bad topology": (
        _set("topology", "links", 0, "bandwidth_gb_s", to=-1),
        r"^topology: links\[0\].bandwidth_gb_s .*positive",
    ),
    "optimum as list": (_set("optimum", to=[]), r"^optimum is \[\]; it must be an object"),
    "optimum without cut": (lambda d: d["optimum"].pop("cut"), "^optimum.cut is missing"),
    "cut of unknown node": (
        _set("optimum", "cut", to=["a", "z"]),
        "^optimum.cut is 'z'; .*leaves4",
    ),
    "cut by position": (_set("optimum", "cut", to=[0]), "^optimum.cut is 0; .*names of nodes"),
    "bound as number": (_set("optimum", "inverse_rate", to=1), "^optimum.inverse_rate is 1; "),
}
"""Of what a file says apart from trees and routes."""

TREES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "trees as object": (_set("trees", to={}), "^trees is {}; it must be a list"),
    "tree as list": (_set("trees", 1, to=[]), r"^trees\[1\] is \[\]; it must be an object"),
    "tree without root": (lambda d: d["trees"][2].pop("root"), r"^trees\[2\].root is missing"),
    "tree with a name": (_set("trees", 0, "name", to=1), r"^trees\[0\].'name' is not in the"),
    "unknown root": (_set("trees", 3, "root", to=4), r"^trees\[3\].root is 4; .*between 0 and 3"),
    "root by name": (_set("trees", 3, "root", to="d"), r"^trees\[3\].root is 'd'; .*an integer"),
    "multiplicity of zero": (
        _set("trees", 0, "multiplicity", to=0),
        r"^trees\[0\].multiplicity is 0; it must be between 1 and",
    ),
    "true multiplicity": (
        _set("trees", 0, "multiplicity", to=True),
        r"^trees\[0\].multiplicity is True; it must be an integer",
    ),
    "huge multiplicity": (_set("trees", 0, "multiplicity", to=2**63), r"^trees\[0\].multiplicity"),
    "edge of three": (
        _set("trees", 0, "edges", 1, to=[0, 1, 2]),
        r"^trees\[0\].edges\[1\] is \[0, 1, 2\]; it must be a pair",
    ),
    "edge as number": (_set("trees", 0, "edges", 1, to=7), r"^trees\[0\].edges\[1\] is 7; .*pair"),
    "edge as text": (_set("trees", 0, "edges", 1, to="ab"), r"^trees\[0\].edges\[1\] is 'ab'"),
    "edge by name": (
        _set("trees", 1, "edges", 2, to=["a", "b"]),
        r"^trees\[1\].edges\[2\] is 'a'; it must be an integer",
    ),
    "edge of booleans": (
        _set("trees", 1, "edges", 0, to=[False, True]),
        r"^trees\[1\].edges\[0\] is False; it must be an integer",
    ),
    "edge to unknown GPU": (
        _set("trees", 0, "edges", 2, to=[2, 4]),
        r"^trees\[0\].edges\[2\] is 4; it must be between 0 and 3",
    ),
    "edge from nowhere": (
        _set("trees", 0, "edges", 2, to=[-1, 3]),
        r"^trees\[0\].edges\[2\] is -1; it must be between 0 and 3",
    ),
    "route to unknown GPU": (_set("routes", 2, "to", to=9), r"^routes\[2\].to is 9; .*0 and 3"),
    "route without paths": (lambda d: d["routes"][1].pop("paths"), r"^routes\[1\].paths is mis"),
    "path as list": (
        _set("routes", 1, "paths", to=[["a", "x", "b"]]),
        r"^routes\[1\].paths\[0\] is .*; it must be an object",
    ),
    "path over unknown node": (
        _set("routes", 1, "paths", 0, "nodes", 1, to="z"),
        r"^routes\[1\].paths\[0\].nodes is 'z'; it must be names of nodes of leaves4",
    ),
    "path by positions": (
        _set("routes", 7, "paths", 0, "nodes", to=[0, 4, 1]),
        r"^routes\[7\].paths\[0\].nodes is 0; it must be names",
    ),
    "path multiplicity as text": (
        _set("routes", 0, "paths", 0, "multiplicity", to="2"),
        r"^routes\[0\].paths\[0\].multiplicity is '2'; it must be an integer",
    ),
}
"""Of trees and routes."""

PLANS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "plan of version 1": (_set("version", to=1), "^'plan' is not in the format; the fields here"),
    "slots of version 1": (
        lambda d: d.update({"version": 1}) or d.pop("plan"),
        "^'slots' is not in the format; the fields here",
    ),
    "plan as list": (_set("plan", to=[]), r"^plan is \[\]; it must be an object"),
    "plan without time": (lambda d: d["plan"].pop("time_us"), "^plan.time_us is missing"),
    "plan with a name": (_set("plan", "name", to=1), "^plan.'name' is not in the format"),
    "plan of no bytes": (_set("plan", "size_bytes", to=0), "^plan.size_bytes is 0; .*positive"),
    "size as text": (_set("plan", "size_bytes", to="1MB"), "^plan.size_bytes is '1MB'; .*integer"),
    "alpha as number": (_set("plan", "alpha_us", to=10), "^plan.alpha_us is 10; it must be text"),
    "negative alpha": (_set("plan", "alpha_us", to="-1"), "^plan.alpha_us is '-1'; .*exact"),
    "endless time": (_set("plan", "time_us", to="9" * 400), "^plan.time_us is '9+.*exact"),
    "width over zero": (_set("plan", "width_us", to="1/0"), "^plan.width_us is '1/0'; .*exact"),
    "slots without width": (
        lambda d: d["plan"].pop("width_us"),
        "^slots is not in the format without plan.width_us",
    ),
    "slots without plan": (
        lambda d: d.pop("plan"),
        "^slots is not in the format without plan.width_us",
    ),
    "width without slots": (lambda d: d.pop("slots"), "^slots is missing; add it, or leave plan.w"),
    "common as number": (_set("plan", "common", to=1), "^plan.common is 1; it must be"),
    "common rates": (
        lambda d: d["plan"].update(common=True) or d["plan"].pop("width_us"),
        "^plan.common is not in the format without plan.width_us",
    ),
    "slots as object": (_set("slots", to={}), "^slots is {}; it must be a list"),
    "row as number": (_set("slots", 1, to=7), r"^slots\[1\] is 7; it must be a list"),
    "short row": (_set("slots", 2, to=[0, 1]), r"^slots\[2\] is \[0, 1\]; .*a slot of 3 GPUs"),
    "slot as text": (
        _set("slots", 0, 3, to="1"),
        r"^slots\[0\]\[3\] is '1'; it must be an integer",
    ),
    "true slot": (_set("slots", 0, 3, to=True), r"^slots\[0\]\[3\] is True; it must be an integer"),
    "slot of 64 bits": (_set("slots", 0, 3, to=2**63), r"^slots\[0\]\[3\] is 9223372036854775808"),
    "unknown tree": (_set("slots", 1, 0, to=3), r"^plan.tree\[1\] is 3; .*between 0 and 2"),
    "no parts": (_set("slots", 1, 1, to=0), r"^plan.parts\[1\] is 0; .*between 1 and 720720"),
    "too many parts": (_set("slots", 1, 1, to=720721), r"^plan.parts\[1\] is 720721; .*720720"),
    "slot before the first": (_set("slots", 1, 2, to=-2), r"^slots\[1\]\[2\] is -2; .*between -1"),
    "late slot": (_set("slots", 1, 2, to=2**20 + 1), r"^slots\[1\]\[2\] is 1048577; .*between -1"),
}
"""Of time plans."""

MALFORMED = FIELDS | HEADS | TREES
