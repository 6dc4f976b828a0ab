"""Mutants of small sources, counted by hand."""

import ast
from typing import Any

import pytest

from benchmarks.mutation.mutants import Mutants, sampled


def made(source: str) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in Mutants(source).all]


def run(source: str, number: int) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(Mutants(source).tree(number), "toy", "exec"), names)
    return names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", [("a < b", "a <= b")]),
        ("0 <= a < b", [("0 <= a < b", "0 < a < b"), ("0 <= a < b", "0 <= a <= b"), ("0", "1")]),
        ("a + b", [("a + b", "a - b")]),
        ("a / b", [("a / b", "a * b")]),
        ("a is None", [("a is None", "a is not None")]),
        ("not a", [("not a", "a")]),
        ("a and b", [("a and b", "a or b"), ("a and b", "b"), ("a and b", "a")]),
        ("min(a)", [("min(a)", "max(a)")]),
        ("sum(a)", [("sum(a)", "max(a, default=0)")]),
        ("sorted(a)", [("sorted(a)", "list(a)")]),
        ("a[b:c]", [("b:c", ":c"), ("b:c", "b:")]),
        ("a.tail", [("a.tail", "a.head")]),
        ("b if a else c", [("a", "True"), ("a", "False")]),
        ("[b for b in c if a]", [("a", "True"), ("a", "False")]),
        ("3", [("3", "4")]),
        ("True", [("True", "False")]),
    ],
)
def test_an_expression_has_these_mutants(source: str, expected: list[tuple[str, str]]) -> None:
    """Beside the one that returns None in its place, which all have but constants."""
    found = made(f"def f(a, b, c):\n    return {source}\n")
    assert [pair for pair in found if pair[1] != "return None"] == expected
    assert len(found) - len(expected) == (source not in ("3", "True"))


def test_statements_are_left_out() -> None:
    """A check, a sum, an item; continue becomes break; a condition always holds, or never."""
    source = """
def f(a):
    for one in a:
        if one:
            continue
        check(one)
        a[one] = one
        a += one
    raise ValueError(1 + 1)
"""
    assert made(source) == [
        ("one", "True"),
        ("one", "False"),
        ("continue", "break"),
        ("check(one)", "pass"),
        ("a[one] = one", "pass"),
        ("a += one", "pass"),
        ("raise ValueError(1 + 1)", "pass"),
    ]


def test_text_for_people_has_no_mutants() -> None:
    """Messages, docstrings, annotations, asserts, ``__all__``, ``__repr__`` and strict zips."""
    source = '''
"""Text."""
def f(a: int = None) -> "Literal[1]":
    """Text."""
    assert a > 1
    b: Literal[1] = a
    fail(f"{a + 1}", a + 1)
    log = f"{a + 1}"
    zip(a, b, strict=True)
def __repr__(self):
    return 1 + 1
'''
    assert [after for _, after in made(source)] == ["pass", "pass"]  # the two calls


def test_a_mutant_knows_its_function_and_lines() -> None:
    """The outermost function, from its first decorator on; the statement's lines, or the header's.

    A default is computed at import, so it belongs to no function.
    """
    source = """
class C:
    @decorated
    def f(self, a=7):
        def inner():
            return g(
                1)
        if a:
            return inner
"""
    found = [(one.function, one.start, one.first, one.last) for one in Mutants(source).all]
    assert found == [
        ("", 0, 3, 4),  # 7 -> 8, in the header
        ("C.f", 3, 6, 7),  # return None
        ("C.f", 3, 6, 7),  # 1 -> 2
        ("C.f", 3, 8, 8),  # True
        ("C.f", 3, 8, 8),  # False
        ("C.f", 3, 9, 9),  # return None
    ]


def test_equal_mutants_of_a_function_are_numbered() -> None:
    names = [one.name for one in Mutants("def f(a):\n    g(1)\n    g(1)\n").all]
    assert names == [
        "f: g(1) -> pass #0",
        "f: 1 -> 2 #0",
        "f: g(1) -> pass #1",
        "f: 1 -> 2 #1",
    ]


def test_a_tree_has_one_mutant_and_runs() -> None:
    """The sum of 2 and 3 is 5, or -1, or None."""
    source = "def f(a, b):\n    return a + b\n"
    results = [run(source, one.number)["f"](2, 3) for one in Mutants(source).all]
    assert results == [None, -1]
    assert ast.unparse(Mutants(source).tree(1)) == "def f(a, b):\n    return a - b"


def test_a_sample_is_drawn_from_functions_and_import_time_code() -> None:
    """Of 30 constants in functions and 30 at import: 20 and 2; all where there are fewer."""
    source = "A = [" + ", ".join(["1"] * 30) + "]\ndef f():\n" + "    a = 1\n" * 30
    mutants = Mutants(source).all
    drawn = sampled(mutants, 20, 2, "seed")
    assert drawn == sampled(mutants, 20, 2, "seed") == sorted(drawn)
    assert drawn != sampled(mutants, 20, 2, "another")
    assert sum(number < 30 for number in drawn) == 2
    assert sum(number >= 30 for number in drawn) == 20
    assert len(sampled(mutants, 300, 300, "seed")) == 60
