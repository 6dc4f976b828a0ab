"""Export to Chakra execution traces, the input of ASTRA-sim.

Problem: ASTRA-sim should run any schedule as a collective of its own.
Input:   a program; the size of the data; the time to add a byte.
Output:  a trace for each rank, as bytes.
Cost:    linear in transfers and dependencies.
Source:  mlcommons/chakra, ``schema/protobuf/et_def.proto``: a GlobalMetadata, then a Node for each
         operation, each behind its length. ASTRA-sim reads the attributes that its own examples
         have; its ``CustomAlgorithm.cc`` runs sends, receives and computations of a trace.

A message becomes a send and a receive with one tag. A sum is a computation after the receive, if it
takes a microsecond or more, the resolution of Chakra. A send depends on the receive or sum of each
dependency, and on the send of the pipeline chunk before it, which ASTRA-sim ends on arrival.

The traces are the implementation of a collective; a second trace for each rank, the workload, calls
this collective once. ASTRA-sim ignores the size that the call gives. A workload of the sends
themselves would not do: ASTRA-sim sends those one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.runtimes.simulators.messages import Message, MessageOptions, Messages
from forestcoll.runtimes.simulators.protobuf_wire import block, delimited, number, packed
from forestcoll.schedule.program import Program

__all__ = ["ChakraOptions", "chakra_traces", "chakra_workload"]

_SCHEMA = "1.0.2-chakra.0.0.4"
_MOST_TAGS = 500_000_000  # ASTRA-sim keeps larger tags for its own collectives


class _Kind(IntEnum):
    """Types of nodes (``NodeType``)."""

    COMP = 4
    SEND = 5
    RECV = 6
    COLLECTIVE = 7


class _Value(IntEnum):
    """Fields of an attribute with a value of some type (``AttributeProto``)."""

    INT32 = 7
    INT64 = 9
    BOOL = 27
    STRING = 29


_CALLS = {
    "allreduce": 0,
    "reduce": 7,
    "allgather": 2,
    "broadcast": 2,
    "all-to-all": 6,
    "reduce-scatter": 7,
}
"""The call (``CollectiveCommType``) that runs a collective. ASTRA-sim has no broadcast and no
reduce, so those take the place of an allgather and of a reduce-scatter."""


@dataclass(frozen=True, slots=True)
class ChakraOptions(MessageOptions):
    """Options of an export to Chakra's traces.

    Parameters
    ----------
    prefix : str
        Name of the traces in ASTRA-sim's system file, without rank and ending; a path from the
        folder in which ASTRA-sim runs.
    """

    prefix: str = "collective"


def chakra_traces(program: Program, options: ChakraOptions) -> list[bytes]:
    """Return the trace of each rank.

    Their messages are those of :class:`Messages`, whose errors it raises.

    Raises
    ------
    ExportError
        If there are more messages than ASTRA-sim has tags.
    """
    messages = Messages(program, options.size_bytes, options.pipeline_chunks)
    if messages.count > _MOST_TAGS:
        raise ExportError(
            f"{messages.count} messages are more than ASTRA-sim has tags, {_MOST_TAGS}; take fewer "
            "pipeline chunks or a smaller network"
        )
    gamma = Fraction(options.gamma_s_per_gb)
    return [_file(_nodes(rank, found, gamma)) for rank, found in enumerate(messages.by_rank())]


def chakra_workload(program: Program, options: ChakraOptions) -> bytes:
    """Return the trace with which each rank calls the collective once."""
    name = f"{program.collective} of {options.size_bytes} bytes by {program.method}"
    attributes = [
        _attribute("is_cpu_op", _Value.BOOL, False),
        _attribute("comm_type", _Value.INT64, _CALLS[program.collective]),
        _attribute("comm_size", _Value.INT64, options.size_bytes),
    ]
    return _file([_node(0, name, _Kind.COLLECTIVE, [], attributes)])


def _nodes(rank: int, messages: list[Message], gamma: Fraction) -> Iterator[bytes]:
    """Yield the nodes of a rank, in the order of the tags."""
    place, done = 0, dict[int, int]()
    for message in messages:
        if message.tail == rank:
            behind = [] if message.behind is None else [message.behind]
            after = sorted({done[tag] for tag in (*message.needs, *behind)})
            yield _message(place, _Kind.SEND, message, after)
            done[message.tag] = place
        else:
            yield _message(place, _Kind.RECV, message, [])
            # Chakra counts whole microseconds.
            micros = round(gamma * message.size_bytes / 1000) if message.adds else 0
            if micros:
                place += 1
                yield _node(place, f"add {message.tag}", _Kind.COMP, [place - 1], [], micros)
            done[message.tag] = place
        place += 1
    if not place:
        # A trace without nodes has nothing to begin with, which ASTRA-sim takes for a deadlock.
        yield _node(0, "nothing to do", _Kind.COMP, [], [])


def _message(place: int, kind: _Kind, message: Message, after: list[int]) -> bytes:
    attributes = [
        _attribute("is_cpu_op", _Value.BOOL, False),
        _attribute("comm_src", _Value.INT32, message.tail),
        _attribute("comm_dst", _Value.INT32, message.head),
        _attribute("comm_tag", _Value.INT32, message.tag),
        _attribute("comm_size", _Value.INT64, message.size_bytes),
    ]
    word = "send" if kind is _Kind.SEND else "receive"
    return _node(place, f"{word} {message.tag}", kind, after, attributes)


def _file(nodes: Iterator[bytes] | list[bytes]) -> bytes:
    metadata = block(2, _attribute("schema", _Value.STRING, _SCHEMA))
    return delimited(metadata) + b"".join(map(delimited, nodes))


def _node(
    place: int,
    name: str,
    kind: _Kind,
    after: list[int],
    attributes: list[bytes],
    micros: int = 0,
) -> bytes:
    """Return a Node: id, name, type, data_deps, duration_micros, attr."""
    return (
        number(1, place)
        + block(2, name)
        + number(3, kind)
        + packed(5, after)
        + (number(7, micros) if micros else b"")
        + b"".join(block(10, one) for one in attributes)
    )


def _attribute(name: str, kind: _Value, value: int | str) -> bytes:
    said = block(kind, value) if isinstance(value, str) else number(kind, value)
    return block(1, name) + said
