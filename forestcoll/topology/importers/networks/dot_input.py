"""Importer of graphs in Graphviz's DOT language.

Problem: a network as nodes, edges and attributes in text.
Input:   one ``graph`` or ``digraph`` of statements: nodes, edges (chains, too), defaults for
         ``node`` and ``edge``, attributes of the graph. Attributes are those of
         :mod:`graph_parts`. Subgraphs, ports and HTML text are refused.
Output:  a topology. An edge ``--`` is a link each way.
Cost:    linear in characters.
Source:  the grammar on graphviz.org.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.networks.graph_parts import Edge, GraphParts, Vertex
from forestcoll.topology.model import Topology

__all__ = ["topology_from_dot"]

_MOST_TOKENS = 10_000_000
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*
    |(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")
    |(?P<word>[A-Za-z_\x80-\uffff][A-Za-z0-9_.\x80-\uffff]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
    |(?P<sign>->|--|[{}\[\]=;,:<])""",
    re.VERBOSE | re.DOTALL,
)
_RESERVED = ("node", "edge", "graph")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def topology_from_dot(text: str, source: str, name: str) -> Topology:
    """Read a graph in DOT.

    Raises
    ------
    InvalidTopologyError
        If a statement is wrong or of no kind that makes a network, or an attribute is missing.
    """
    reader = _Reader(text, source)
    called = reader.graph()
    return reader.parts.topology(called or name, partial(reader.fault, at=0))


@dataclass(slots=True)
class _Defaults:
    node: dict[str, str] = field(default_factory=dict)
    edge: dict[str, str] = field(default_factory=dict)


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tokens = self._split()
        self._next: _Token | None = None
        self._advance()
        self._directed = False
        self._defaults = _Defaults()
        self._seen: dict[str, int] = {}
        self.parts = GraphParts()

    def fault(self, problem: str, at: int) -> InvalidTopologyError:
        line = self._text.count("\n", 0, at) + 1
        return InvalidTopologyError(f"{self._source}, line {line}: {problem}")

    # Tokens.

    def _split(self) -> Iterator[_Token]:
        at = 0
        for _ in range(_MOST_TOKENS):
            if at >= len(self._text):
                return
            match = _TOKEN.match(self._text, at)
            if match is None:
                shown = self._text[at : at + 20].split("\n")[0]
                raise self.fault(f"{shown!r} is not DOT; the file may be cut off", at)
            at = match.end()
            if match.lastgroup is not None:
                yield _Token(match.lastgroup, match[0], match.start())
        raise self.fault(f"over {_MOST_TOKENS} words; check that it is the right file", at)

    def _advance(self) -> _Token | None:
        token, self._next = self._next, next(self._tokens, None)
        return token

    def _expect(self, what: str, *signs: str) -> _Token:
        token = self._advance()
        if token is None or (signs and token.text not in signs):
            shown = "the end of the file" if token is None else repr(token.text[:40])
            at = len(self._text) if token is None else token.at
            raise self.fault(f"{shown} instead of {what}; the file may be cut off", at)
        return token

    def _at(self, *signs: str) -> bool:
        return self._next is not None and self._next.kind != "text" and self._next.text in signs

    def _word(self, what: str) -> _Token:
        token = self._expect(what)
        if token.kind == "sign":
            if token.text in ("{", "<", ":"):
                raise self.fault(
                    "subgraphs, ports and HTML text are not read; write plain nodes and edges",
                    token.at,
                )
            raise self.fault(f"{token.text!r} instead of {what}", token.at)
        if token.kind == "text":
            plain = re.sub(r"\\(.)", lambda match: match[1], token.text[1:-1], flags=re.DOTALL)
            return _Token("text", plain, token.at)
        return token

    # Statements.

    def graph(self) -> str:
        """Read the graph and return its name."""
        if self._at("strict"):
            self._advance()
        first = self._expect("graph or digraph", "graph", "digraph")
        self._directed = first.text == "digraph"
        name = "" if self._at("{") else self._word("the name of the graph").text
        self._expect("'{'", "{")
        while not self._at("}"):
            self._statement()
            while self._at(";", ","):
                self._advance()
        self._advance()
        if self._next is not None:
            raise self.fault("something follows the graph; give one graph a file", self._next.at)
        return name

    def _statement(self) -> None:
        first = self._word("a statement")
        if first.kind == "word" and first.text.lower() == "subgraph":
            raise self.fault("subgraphs are not read; write plain nodes and edges", first.at)
        if self._at("="):
            self._advance()
            self._word("a value")  # an attribute of the graph, such as rankdir
        elif first.kind == "word" and first.text.lower() in _RESERVED:
            found = self._attributes()
            if first.text.lower() != "graph":
                getattr(self._defaults, first.text.lower()).update(found)
        elif self._at("->", "--"):
            self._edges(first)
        else:
            found = self._attributes()
            self._declare(first, found)

    def _declare(self, token: _Token, found: dict[str, str] | None = None) -> None:
        """Add a node, or attributes to one that is there."""
        place = self._seen.get(token.text)
        if place is None:
            self._seen[token.text] = len(self.parts.vertices)
            attributes = {**self._defaults.node, **(found or {})}
            fault = partial(self.fault, at=token.at)
            self.parts.vertices.append(Vertex(token.text, attributes, fault))
        elif found:
            old = self.parts.vertices[place]
            both = {**old.attributes, **found}
            self.parts.vertices[place] = Vertex(old.name, both, old.fault)

    def _edges(self, first: _Token) -> None:
        ends = [first]
        while self._at("->", "--"):
            sign = self._expect("an edge")
            if (sign.text == "->") != self._directed:
                kind = "digraph" if self._directed else "graph"
                raise self.fault(f"{sign.text} is not an edge of a {kind}; exchange one", sign.at)
            ends.append(self._word("a node"))
        found = {**self._defaults.edge, **self._attributes()}
        for end in ends:
            self._declare(end)
        for tail, head in pairwise(ends):
            fault = partial(self.fault, at=head.at)
            edge = Edge(tail.text, head.text, found, not self._directed, fault)
            self.parts.edges.append(edge)

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._at("["):
            self._advance()
            while not self._at("]"):
                name = self._word("the name of an attribute")
                self._expect("'='", "=")
                found[name.text] = self._word("a value").text
                if self._at(",", ";"):
                    self._advance()
            self._advance()
        return found
