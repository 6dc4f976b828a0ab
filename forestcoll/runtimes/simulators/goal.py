"""Export to GOAL, the input of the simulators LogGOPSim and ATLAHS.

Problem: an established network simulator should be able to run any schedule.
Input:   a program; the size of the data; the time to add a byte; the simulator.
Output:  a text: the sends, receives and calculations of each rank, and what each requires.
Cost:    linear in transfers and dependencies.
Source:  T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009; the
         dialect is what txt2bin of ATLAHS reads: one statement a line, ``requires`` after both of
         its labels, 32-bit tags (the largest stands for any tag), ``calc`` in nanoseconds, up to
         255 CPUs and NICs.

A message becomes a send and a receive with one tag, so they match in any order of arrival. A sum
is a ``calc`` that requires the receive. A send requires the receive of each dependency, or the
``calc`` of a dependency that adds. Ranks are GPUs.

Each port of a GPU has a NIC, a CPU for its sends and a CPU for its receives, so ports work side by
side. CPU 0 adds. A send requires the one before it at its port, in the order of a simulation. The
simulators know one bandwidth: that of the slowest port in use. A message over a port with b times
this bandwidth has 1/b of its bytes, which take the right time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.runtimes.simulators.messages import Message, MessageOptions, Messages
from forestcoll.runtimes.simulators.port_order import before_at_port
from forestcoll.runtimes.simulators.simulator_ports import most_ports, path_ports, slowest_port
from forestcoll.schedule.program import Program

__all__ = ["GoalOptions", "GoalSimulator", "goal"]

_MOST_TAGS = 2**32 - 1
_MOST_MESSAGE_BYTES = 2**31 - 1  # ATLAHS keeps sizes and its eager limit in 32-bit integers
_MOST_PORTS = 127  # two CPUs a port and one more have numbers up to 254


class GoalSimulator(StrEnum):
    """Which simulator runs the file.

    LOGGOPSIM: that of ATLAHS. It serialises the messages of a sending port, but not those of a
    receiving one, so the file keeps each receiving port busy with a ``calc`` after each message.
    HTSIM: the packet simulator of ATLAHS, which does both.
    """

    LOGGOPSIM = "loggopsim"
    HTSIM = "htsim"


@dataclass(frozen=True, slots=True)
class GoalOptions(MessageOptions):
    """Options of a GOAL export.

    Parameters
    ----------
    simulator : GoalSimulator
    """

    simulator: GoalSimulator | Literal["loggopsim", "htsim"] = GoalSimulator.LOGGOPSIM

    def __post_init__(self) -> None:
        MessageOptions.__post_init__(self)
        if self.simulator not in tuple(GoalSimulator):
            raise InvalidParameterError(
                f"there is no simulator {self.simulator!r} of GOAL; choose one of "
                f"{', '.join(GoalSimulator)}"
            )

    @property
    def holds_ports(self) -> bool:
        """Whether the file, and not the simulator, serialises what a port receives."""
        return self.simulator == GoalSimulator.LOGGOPSIM


def goal(program: Program, options: GoalOptions | None = None) -> str:
    """Write a program in GOAL.

    Its messages are those of :class:`Messages`, whose errors it raises. The file lists sums even at
    zero cost.

    Returns
    -------
    str
        Deterministic: the same text for the same program.

    Raises
    ------
    ExportError
        If there are more messages, ports or bytes of a message than the simulators can number.

    Examples
    --------
    >>> import forestcoll
    >>> ring = forestcoll.generate("ring:nodes=2,bidirectional=false")
    >>> print(goal(forestcoll.compile_program(ring), GoalOptions(size_bytes=10)), end="")
    num_ranks 2
    <BLANKLINE>
    rank 0 {
    l1: send 5b to 1 tag 0 cpu 1 nic 0
    l2: recv 5b from 1 tag 1 cpu 2 nic 0
    }
    <BLANKLINE>
    rank 1 {
    l1: recv 5b from 0 tag 0 cpu 2 nic 0
    l2: send 5b to 0 tag 1 cpu 1 nic 0
    }
    """
    options = options or GoalOptions()
    messages = Messages(program, options.size_bytes, options.pipeline_chunks)
    _check(messages)
    return "\n".join(_Writer(messages, options).lines()) + "\n"


def _check(messages: Messages) -> None:
    if messages.count >= _MOST_TAGS:
        raise ExportError(
            f"{messages.count} messages are more than GOAL has tags, 2^32 - 1; take fewer "
            "pipeline chunks or a smaller network"
        )
    topology = messages.program.topology
    if (ports := most_ports(topology)) > _MOST_PORTS:
        raise ExportError(
            f"{topology.name}: a GPU has {ports} ports; GOAL numbers {_MOST_PORTS} at most "
            "(two CPUs each); take a network with fewer links of a GPU"
        )


class _Writer:
    """Operations of the ranks, in the order of the tags."""

    def __init__(self, messages: Messages, options: GoalOptions) -> None:
        self._options, self._gamma = options, Fraction(options.gamma_s_per_gb)
        self._ports = path_ports(messages.program)
        self._unit_gb_s = slowest_port(messages.program, self._ports)
        self._many = most_ports(messages.program.topology)
        self._by_rank = list(messages.by_rank())
        self._before = before_at_port(messages, self._ports, options.size_bytes, options.alpha_us)

    def lines(self) -> Iterator[str]:
        yield f"num_ranks {len(self._by_rank)}"
        for rank, messages in enumerate(self._by_rank):
            yield ""
            yield f"rank {rank} {{"
            yield from self._of_rank(rank, messages)
            yield "}"

    def _of_rank(self, rank: int, messages: list[Message]) -> Iterator[str]:
        label = 0
        done: dict[int, int] = {}
        last = {self._ports[one.path].arrives: one.tag for one in messages if one.head == rank}
        for message in messages:
            label += 1
            if message.tail == rank:
                yield self._send(label, message)
                yield from (f"l{label} requires l{done[tag]}" for tag in message.needs)
                done[message.tag] = label
                continue
            yield self._receive(label, message)
            done[message.tag] = busy = label
            for nanoseconds, cpu, holds in self._calculations(message, last):
                label += 1
                yield f"l{label}: calc {nanoseconds} cpu {cpu}"
                yield f"l{label} requires l{busy if holds else done[message.tag]}"
                if not holds:
                    done[message.tag] = label
                if cpu:
                    busy = label
        for message in messages:
            if message.tail == rank and (before := self._before.get(message.tag)) is not None:
                yield f"l{done[message.tag]} requires l{done[before]}"

    def _send(self, label: int, message: Message) -> str:
        port = self._ports[message.path].leaves
        return (
            f"l{label}: send {self._scaled(message)}b to {message.head} tag {message.tag} "
            f"cpu {1 + port} nic {port}"
        )

    def _receive(self, label: int, message: Message) -> str:
        port = self._ports[message.path].arrives
        return (
            f"l{label}: recv {self._scaled(message)}b from {message.tail} tag {message.tag} "
            f"cpu {1 + self._many + port} nic {port}"
        )

    def _calculations(
        self, message: Message, last: dict[int, int]
    ) -> Iterator[tuple[int, int, bool]]:
        """Yield what follows a receive: nanoseconds, CPU, and whether they only hold the port."""
        ports, amount = self._ports[message.path], message.size_bytes
        cpu = 1 + self._many + ports.arrives
        # LogGOPSim has counted the time of the sending port when the message arrives.
        late = round(amount / ports.slowest_gb_s - amount / ports.leaves_gb_s)
        if self._options.holds_ports and late:
            yield late, cpu, False
        if message.adds:
            yield math.ceil(self._gamma * amount), 0, False
        hold = round(amount / ports.arrives_gb_s) - late
        # To hold a port behind its last message would only make the run longer.
        if self._options.holds_ports and hold > 0 and last[ports.arrives] != message.tag:
            yield hold, cpu, True

    def _scaled(self, message: Message) -> int:
        """Return the bytes that take the message's time at the bandwidth of the slowest port."""
        share = self._unit_gb_s / self._ports[message.path].leaves_gb_s
        size: int = max(1, round(message.size_bytes * share))
        if size > _MOST_MESSAGE_BYTES:
            raise ExportError(
                f"message {message.tag} has {size} bytes; those of GOAL's simulators have 2^31 - 1 "
                "at most; take more pipeline chunks"
            )
        return size
