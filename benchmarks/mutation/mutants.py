"""Mutants of a Python module: one small fault each, made in its syntax tree.

Left out: docstrings, annotations, ``__all__``, ``__repr__`` and ``__str__``; what a message says
(f-strings, the arguments of exceptions and of ``fail``); asserts; ``strict`` of zip; options of
dataclasses and fields.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Mutant", "Mutants", "sampled"]

Place = tuple[ast.AST, str, int | None]
"""A parent, the name of its field, and the position in it if the field is a list."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.Pow: ast.Mult,
}
NAMES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "gcd": "lcm",
    "lcm": "gcd",
    "ceil": "floor",
    "floor": "ceil",
}
"""Functions and their opposites."""

ENDS = {"tail": "head", "head": "tail", "gather": "reduce", "reduce": "gather"}
"""Attributes whose confusion is the classic fault with directed links and two phases."""

SILENT = {"__repr__", "__str__", "__format__"}
MESSAGES = {"fail", "warn", "debug", "info", "warning"}
OPTIONS = {"strict", "slots", "frozen", "repr", "kw_only", "compare", "init", "eq"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault."""

    number: int  # position among the mutants of its module
    kind: str
    # qualified name of the outermost function that it is in; empty in code that runs at import
    function: str
    start: int  # first line of that function, decorators included; 0 in code that runs at import
    first: int  # lines of the innermost statement, or of the header of a compound one
    last: int  # lines of the innermost statement, or of the header of a compound one
    before: str  # source of what is replaced, and of what replaces it
    after: str  # source of what is replaced, and of what replaces it
    twin: int = 0  # how many mutants before it in the function read the same

    @property
    def name(self) -> str:
        """A name that stays when lines move: function, texts, and how many equal ones precede."""
        return f"{self.function or 'import'}: {self.before} -> {self.after} #{self.twin}"


@dataclass(slots=True)
class _Change:
    place: Place
    new: Any
    mutant: Mutant


class Mutants:
    """All mutants of a source text."""

    def __init__(self, source: str) -> None:
        self._tree = ast.parse(source)
        self._changes = list(_Walk().module(self._tree))
        seen: Counter[str] = Counter()
        for number, change in enumerate(self._changes):
            named = change.mutant
            change.mutant = _numbered(named, number, seen[named.name])
            seen[named.name] += 1

    @property
    def all(self) -> list[Mutant]:
        """Return them in the order of the text."""
        return [change.mutant for change in self._changes]

    def tree(self, number: int) -> ast.Module:
        """Return the tree with one mutant in it; this object has to be made anew after that."""
        change = self._changes[number]
        parent, field, index = change.place
        if index is None:
            setattr(parent, field, change.new)
        else:
            getattr(parent, field)[index] = change.new
        return ast.fix_missing_locations(self._tree)


def _numbered(mutant: Mutant, number: int, twin: int) -> Mutant:
    return Mutant(
        number,
        mutant.kind,
        mutant.function,
        mutant.start,
        mutant.first,
        mutant.last,
        mutant.before,
        mutant.after,
        twin,
    )


def sampled(mutants: Sequence[Mutant], most: int, most_at_import: int, seed: str) -> list[int]:
    """Draw so many mutants of functions, and so many of code that runs at import.

    The latter take the whole suite each. All are taken where there are not more.
    """
    chance, drawn = random.Random(seed), []
    for at_import, limit in ((False, most), (True, most_at_import)):
        group = [one.number for one in mutants if (not one.function) == at_import]
        drawn += group if len(group) <= limit else chance.sample(group, limit)
    return sorted(drawn)


class _Walk:
    """One pass over a tree that knows the function and the statement it is in."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._function, self._start = "", 0
        self._first, self._last = 0, 0

    def module(self, tree: ast.Module) -> Iterator[_Change]:
        yield from self._block(tree)

    # --- statements ------------------------------------------------------------------------------

    def _block(self, parent: ast.AST) -> Iterator[_Change]:
        """Walk over all lists of statements of a node."""
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            for i, statement in enumerate(block if isinstance(block, list) else ()):
                yield from self._statement(statement, (parent, field, i))
        for handler in getattr(parent, "handlers", ()):
            yield from self._block(handler)
        for case in getattr(parent, "cases", ()):
            yield from self._block(case)

    def _statement(self, node: ast.stmt, place: Place) -> Iterator[_Change]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self._definition(node)
            return
        kept = self._first, self._last
        self._first, self._last = node.lineno, _end_of_header(node)
        if not _left_out(node):
            yield from self._deleted(node, place)
            yield from self._branches(node)
            for field, child in ast.iter_fields(node):
                if field in {"body", "orelse", "finalbody", "handlers", "cases", "annotation"}:
                    continue
                if isinstance(node, ast.Raise):
                    continue
                yield from self._field(node, field, child)
        yield from self._block(node)
        self._first, self._last = kept

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[_Change]:
        kept = self._function, self._start, self._first, self._last
        self._first, self._last = _start_of(node), _end_of_header(node)
        if not isinstance(node, ast.ClassDef):
            for field in ("defaults", "kw_defaults"):
                yield from self._field(node.args, field, getattr(node.args, field))
        self._path.append(node.name)
        if not isinstance(node, ast.ClassDef) and not self._function:
            self._function, self._start = ".".join(self._path), _start_of(node)
        if node.name not in SILENT:
            yield from self._block(node)
        self._path.pop()
        self._function, self._start, self._first, self._last = kept

    def _deleted(self, node: ast.stmt, place: Place) -> Iterator[_Change]:
        if isinstance(node, ast.Continue):
            yield self._change("statement", place, node, ast.Break())
        elif isinstance(node, ast.Return):
            if node.value is not None and not isinstance(node.value, ast.Constant):
                yield self._change("return", place, node, ast.Return(ast.Constant(None)))
        elif _is_effect(node):
            yield self._change("statement", place, node, ast.Pass())

    def _branches(self, node: ast.stmt) -> Iterator[_Change]:
        """A condition that always holds, or never; a loop that always goes on would not end."""
        if isinstance(node, ast.If | ast.While):
            values = (True, False) if isinstance(node, ast.If) else (False,)
            for value in values:
                place: Place = (node, "test", None)
                yield self._change("condition", place, node.test, ast.Constant(value))

    # --- expressions -----------------------------------------------------------------------------

    def _field(self, parent: ast.AST, field: str, value: object) -> Iterator[_Change]:
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self._node(item, (parent, field, i))
        else:
            yield from self._node(value, (parent, field, None))

    def _node(self, node: object, place: Place) -> Iterator[_Change]:
        if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.expr_context):
            return
        yield from self._conditions(node)
        for new, kind in _replacements(node):
            yield self._change(kind, place, node, new)
        for field, child in ast.iter_fields(node):
            if not _is_message(node, field):
                yield from self._field(node, field, child)

    def _conditions(self, node: ast.AST) -> Iterator[_Change]:
        """The conditions of a comprehension and of ``x if c else y``; of statements, see there."""
        if isinstance(node, ast.comprehension):
            for i, test in enumerate(node.ifs):
                for value in (True, False):
                    yield self._change("condition", (node, "ifs", i), test, ast.Constant(value))
        elif isinstance(node, ast.IfExp):
            for value in (True, False):
                place: Place = (node, "test", None)
                yield self._change("condition", place, node.test, ast.Constant(value))

    def _change(self, kind: str, place: Place, old: ast.AST, new: ast.AST) -> _Change:
        for one in ast.walk(new):
            if isinstance(one, ast.stmt | ast.expr) and not hasattr(one, "lineno"):
                ast.copy_location(one, old)
        mutant = Mutant(
            0, kind, self._function, self._start, self._first, self._last, _text(old), _text(new)
        )
        return _Change(place, new, mutant)


def _start_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """Return what Python calls the first line of its code: that of the first decorator."""
    lines: list[int] = [node.lineno, *(one.lineno for one in node.decorator_list)]
    return min(lines)


def _end_of_header(node: ast.stmt) -> int:
    """Return the last line before the block of a compound statement; else that of the whole."""
    body = getattr(node, "body", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0] if isinstance(body, list) else body
    above: int = first.lineno - 1
    return max(node.lineno, above)


def _left_out(node: ast.stmt) -> bool:
    """Whether a statement is about types, messages or assertions only."""
    if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
        return node.test.id == "TYPE_CHECKING"
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets)


def _is_effect(node: ast.stmt) -> bool:
    """Whether a statement can be left out without taking a name away."""
    if isinstance(node, ast.Raise | ast.AugAssign | ast.Break):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom)
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Subscript | ast.Attribute) for one in node.targets)
    return False


def _is_message(node: ast.AST, field: str) -> bool:
    """Whether a field of a node says something to people only, or to a type checker."""
    if isinstance(node, ast.keyword):
        return node.arg in OPTIONS
    if isinstance(node, ast.Call) and field in {"args", "keywords"}:
        called = _last_name(node.func)
        return called in MESSAGES or called.endswith("Error") or called in {"cast", "TypeVar"}
    return isinstance(node, ast.Lambda) and field == "args"


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _text(node: ast.AST) -> str:
    """Return one short line."""
    if isinstance(node, ast.Compare | ast.BinOp | ast.expr | ast.stmt):
        line = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    else:
        line = type(node).__name__
    return line if len(line) <= 100 else f"{line[:70]} ... {line[-25:]}"


# --- what replaces an expression -----------------------------------------------------------------


def _replacements(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for make in MAKERS.get(type(node), ()):
        yield from make(node)


def _comparisons(node: ast.Compare) -> Iterator[tuple[ast.AST, str]]:
    for i, operator in enumerate(node.ops):
        other = COMPARISONS[type(operator)]()
        ops = [*node.ops[:i], other, *node.ops[i + 1 :]]
        yield ast.Compare(node.left, ops, node.comparators), "comparison"


def _operators(node: ast.BinOp) -> Iterator[tuple[ast.AST, str]]:
    texts = any(_is_text(side) for side in (node.left, node.right))
    if type(node.op) in OPERATORS and not texts:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right), "operator"


def _signs(node: ast.UnaryOp) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield node.operand, "sign"


def _connectives(node: ast.BoolOp) -> Iterator[tuple[ast.AST, str]]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield ast.BoolOp(other, node.values), "and, or"
    for i in range(len(node.values)):
        left = [*node.values[:i], *node.values[i + 1 :]]
        yield left[0] if len(left) == 1 else ast.BoolOp(node.op, left), "part left out"


def _constants(node: ast.Constant) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value), "constant"
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1), "constant"


def _calls(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    called = _last_name(node.func)
    single = len(node.args) == 1
    if called in NAMES:
        func = _renamed(node.func, NAMES[called])
        yield ast.Call(func, node.args, node.keywords), "function"
    elif called == "sum" and isinstance(node.func, ast.Name) and node.args:
        default = ast.keyword("default", ast.Constant(0))
        yield ast.Call(ast.Name("max", ast.Load()), node.args[:1], [default]), "function"
    elif called in {"abs", "reversed", "sorted"} and single and not node.keywords:
        plain = node.args[0]
        listed = ast.Call(ast.Name("list", ast.Load()), [plain], [])
        yield (plain if called == "abs" else listed), "function"


def _renamed(node: ast.expr, name: str) -> ast.expr:
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, name, node.ctx)
    return ast.Name(name, ast.Load())


def _ends(node: ast.Attribute) -> Iterator[tuple[ast.AST, str]]:
    if node.attr in ENDS and isinstance(node.ctx, ast.Load):
        yield ast.Attribute(node.value, ENDS[node.attr], node.ctx), "other end"


def _slices(node: ast.Slice) -> Iterator[tuple[ast.AST, str]]:
    if node.lower is not None:
        yield ast.Slice(None, node.upper, node.step), "slice"
    if node.upper is not None:
        yield ast.Slice(node.lower, None, node.step), "slice"


def _is_text(node: ast.AST) -> bool:
    """Whether it is a text, or the None of an optional type."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) or node.value is None
    return isinstance(node, ast.JoinedStr)


Maker = Callable[[Any], Iterator[tuple[ast.AST, str]]]

MAKERS: dict[type[ast.AST], Sequence[Maker]] = {
    ast.Compare: [_comparisons],
    ast.BinOp: [_operators],
    ast.UnaryOp: [_signs],
    ast.BoolOp: [_connectives],
    ast.Constant: [_constants],
    ast.Call: [_calls],
    ast.Attribute: [_ends],
    ast.Slice: [_slices],
}
