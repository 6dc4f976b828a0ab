"""Schedules are equal if they are the same, lazy or found, and only then."""

import copy
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.core.assembly import expand
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.factored import Links, Sets
from forestcoll.schedule.transform.factoring import as_factored
from tests.schedule.made.hand import ring3
from tests.schedule.made.types import TREES, schedule


def changed(value: Any) -> Any:
    """Return another value that the same field could hold."""
    if isinstance(value, np.ndarray):
        other = value.copy()
        if not other.size:
            return np.ones(1, dtype=other.dtype)
        other.flat[-1] += 1
        return other
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | Fraction):
        return value + 1
    if isinstance(value, str):
        return value + " too"
    if isinstance(value, tuple):
        return (*value[:-1], changed(value[-1]))
    # Of a part, and of what is said in words and numbers (a topology, a bound): its first field.
    name = next(field.name for field in fields(value) if field.compare)
    return replace(value, **{name: changed(getattr(value, name))})


def variants(value: ByValue) -> Iterator[tuple[str, Any]]:
    """Yield copies of which one field is another, each field of parts that hold arrays too."""
    for field in fields(value):
        now = getattr(value, field.name)
        if not field.compare or now is None:
            continue
        if isinstance(now, ByValue):
            for name, part in variants(now):
                yield f"{field.name}.{name}", replace(value, **{field.name: part})
        else:
            yield field.name, replace(value, **{field.name: changed(now)})


def widened(value: Any) -> Any:
    """Return the same with every array in the widest integers, copied."""
    now = {field.name: getattr(value, field.name) for field in fields(value)}
    arrays = {
        name: part.astype(np.int64) for name, part in now.items() if isinstance(part, np.ndarray)
    }
    parts = {name: widened(part) for name, part in now.items() if isinstance(part, ByValue)}
    return replace(value, **arrays, **parts)


def bytes_of(made: Any, path: Path) -> bytes:
    write_schedule(made, path)
    return path.read_bytes()


def formats(name: str) -> list[str]:
    return ["npz"] if "factored" in name else ["json", "npz"]


@pytest.mark.parametrize(
    ("name", "suffix"), [(name, suffix) for name in TREES for suffix in formats(name)]
)
def test_schedules_equal_themselves_after_a_round_trip(
    name: str, suffix: str, tmp_path: Path
) -> None:
    """Both ways round, with one hash, and the same bytes when it is written again."""
    made = schedule(name)
    first = bytes_of(made, tmp_path / f"one.{suffix}")
    again = read_schedule(tmp_path / f"one.{suffix}")
    assert made == again
    assert again == made
    assert hash(made) == hash(again)
    assert len({made, again}) == 1
    assert {made: "found"}[again] == "found"
    assert bytes_of(again, tmp_path / f"other.{suffix}") == first


@pytest.mark.parametrize("name", TREES)
def test_types_of_integers_do_not_matter(name: str, tmp_path: Path) -> None:
    made = schedule(name)
    wide = widened(made)
    assert wide == made
    assert made == wide
    assert hash(wide) == hash(made)
    suffix = formats(name)[0]
    one, other = bytes_of(made, tmp_path / f"a.{suffix}"), bytes_of(wide, tmp_path / f"b.{suffix}")
    assert one == other


@pytest.mark.parametrize("name", TREES)
def test_one_other_field_is_another_schedule(name: str) -> None:
    """Each field of the schedule and of all its parts in turn."""
    made = schedule(name)
    others = dict(variants(made))
    assert len(others) >= 10
    for field, other in others.items():
        assert made != other, field
        assert other != made, field
    assert len({made, *others.values()}) == 1 + len(others)


def test_the_remark_of_an_allreduce_is_not_part_of_it() -> None:
    """It is not kept in files."""
    made = schedule("allreduce of forests")
    assert replace(made, remark="said otherwise") == made


def test_shape_counts_and_other_kinds_are_not_equal() -> None:
    forest = ring3()
    flat = replace(forest, parent=forest.parent.reshape(-1))
    assert flat != forest
    assert forest != "a forest"
    assert forest.__eq__("a forest") is NotImplemented
    assert Links(*(np.zeros(1, dtype=np.int64),) * 3) != Sets(*(np.zeros(1, dtype=np.int64),) * 3)
    assert forest != as_factored(forest)
    assert replace(forest, parent=forest.parent.tolist()) != forest


def test_truth_values_and_decimals_are_no_integers() -> None:
    """What verify refuses is not equal to what it proves."""
    forest = ring3()
    for kind in (np.bool_, np.float64):
        assert replace(forest, multiplicity=forest.multiplicity.astype(kind)) != forest
    decimal = replace(forest, multiplicity=forest.multiplicity.astype(np.float64))
    assert decimal == copy.deepcopy(decimal)
    assert hash(decimal) == hash(copy.deepcopy(decimal))


def test_large_unsigned_integers_are_compared_exactly() -> None:
    """2^63 and 2^63 + 1 are one floating-point number."""
    low, high = (
        replace(ring3(), multiplicity=np.array([2**63 + i] * 3, dtype=np.uint64)) for i in (0, 1)
    )
    signed = replace(ring3(), multiplicity=np.array([-(2**63)] * 3, dtype=np.int64))
    assert low != high
    assert low != signed
    assert low == copy.deepcopy(low)


# --- routes that are found later ---------------------------------------------------------------


def test_a_factored_forest_expands_to_an_equal_forest() -> None:
    assert expand(schedule("factored forest")) == schedule("forest")
