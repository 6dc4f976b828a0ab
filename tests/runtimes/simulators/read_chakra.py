"""Chakra's traces read back by the wire format of protobuf, strictly, and run without times."""

from collections import Counter
from dataclasses import dataclass, field

_NODE = {1: "id", 2: "name", 3: "type", 5: "data_deps", 7: "duration_micros", 10: "attr"}
COMP, SEND, RECV, COLLECTIVE = 4, 5, 6, 7


@dataclass
class TraceNode:
    """A node of a trace, with its attributes by their names."""

    id: int = -1
    name: str = ""
    type: int = 0
    after: list[int] = field(default_factory=list)
    micros: int = 0
    attributes: dict[str, int | str] = field(default_factory=dict)


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[place]
        place, value, shift = place + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, place


def _fields(raw: bytes) -> list[tuple[int, int | bytes]]:
    place, found = 0, list[tuple[int, int | bytes]]()
    while place < len(raw):
        key, place = _varint(raw, place)
        value, place = _varint(raw, place)
        if key & 7 == 2:
            assert place + value <= len(raw), "a block is longer than its message"
            found.append((key >> 3, raw[place : place + value]))
            place += value
        else:
            assert key & 7 == 0
            found.append((key >> 3, value))
    return found


def _attribute(raw: bytes | int) -> tuple[str, int | str]:
    assert isinstance(raw, bytes)
    (first, name), (kind, value) = _fields(raw)
    assert first == 1
    assert isinstance(name, bytes)
    assert kind in (7, 9, 27, 29)
    assert isinstance(value, bytes) == (kind == 29)
    return name.decode(), value.decode() if isinstance(value, bytes) else value


def _node(raw: bytes) -> TraceNode:
    node = TraceNode()
    for number, value in _fields(raw):
        assert number in _NODE, number
        if number == 10:
            name, content = _attribute(value)
            assert name not in node.attributes
            node.attributes[name] = content
        elif number == 5:
            assert isinstance(value, bytes)
            place = 0
            while place < len(value):
                need, place = _varint(value, place)
                node.after.append(need)
        elif number == 2:
            assert isinstance(value, bytes)
            node.name = value.decode()
        else:
            assert isinstance(value, int)
            setattr(node, {1: "id", 3: "type", 7: "micros"}[number], value)
    return node


def read_chakra(raw: bytes) -> list[TraceNode]:
    """A metadata message that names the schema, then nodes, which depend on earlier ones only."""
    place, messages = 0, list[bytes]()
    while place < len(raw):
        length, place = _varint(raw, place)
        assert place + length <= len(raw), "a message is longer than its file"
        messages.append(raw[place : place + length])
        place += length
    ((number, schema),) = _fields(messages[0])
    assert (number, _attribute(schema)) == (2, ("schema", "1.0.2-chakra.0.0.4"))
    nodes = [_node(message) for message in messages[1:]]
    assert [node.id for node in nodes] == list(range(len(nodes)))
    for node in nodes:
        assert all(need < node.id for need in node.after)
    return nodes


def run_chakra(ranks: list[list[TraceNode]]) -> int:
    """Do whatever can be done until nothing can; returns how many nodes never are.

    A receive is done when the send of its ends, tag and size is. As ASTRA-sim has it, a node begins
    when all that it depends on is done.
    """
    sent: Counter[tuple[object, ...]] = Counter()
    done: set[tuple[int, int]] = set()
    left = [(rank, node) for rank, nodes in enumerate(ranks) for node in nodes]
    moved = True
    while moved:
        moved, waiting = False, []
        for rank, node in left:
            ready = all((rank, need) in done for need in node.after)
            message = tuple(
                node.attributes.get(f"comm_{name}") for name in ("src", "dst", "tag", "size")
            )
            if ready and node.type == RECV:
                assert message[1] == rank
                ready = sent[message] > 0
                sent[message] -= ready
            if not ready:
                waiting.append((rank, node))
                continue
            if node.type == SEND:
                assert message[0] == rank
                sent[message] += 1
            done.add((rank, node.id))
            moved = True
        left = waiting
    return len(left) + sum(sent.values())
