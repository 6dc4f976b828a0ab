"""Mutants of C++ lines, by hand."""

import pytest

from benchmarks.mutation.native_mutants import mutants_of_text


def after(line: str) -> list[str]:
    """Return what comes in the place of a line inside a function."""
    text = f"int f() {{\n  {line}\n}}\n"
    return [one.after.strip() for one in mutants_of_text(text)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return a < b;", ["return a <= b;"]),
        ("return a + b;  // a + b", ["return a - b;"]),
        ("return std::min(a, b);", ["return std::max(a, b);"]),
        ("return f<int>(a);", []),
        ("return a1[0];", ["return a1[1];"]),
        ("++count;", [";"]),
        ("compile_program(arc, amount);", [";"]),
        ("left[g] -= trees;", ["left[g] += trees;", ";"]),
        ("const int a = b;", []),
        ("if (!a) b();", ["if (a) b();", "if (true) b();", "if (false) b();"]),
        ("continue;", ["break;"]),
        ("} else if (f(a)) {", ["} else if (true) {", "} else if (false) {"]),
        ('throw Error("a + b");', []),
        ("progress(0, 1);", []),
        ("return arc.tail;", ["return arc.head;"]),
    ],
)  # fmt: skip
def test_a_line_has_these_mutants(line: str, expected: list[str]) -> None:
    assert after(line) == expected


def test_only_the_insides_of_functions_are_mutated() -> None:
    """A namespace is no function; a default in a header of one is left alone."""
    text = "#include <a>\nnamespace a {\nint f(int a = 1) {\n  return 1;\n}\n}  // namespace a\n"
    (mutant,) = mutants_of_text(text)
    assert (mutant.line, mutant.name) == (4, "return 1; -> return 2; #0")
    assert mutant.applied(text) == text.replace("return 1;", "return 2;")
