"""Data actions of each piece: put to another GPU, add up summands, copy to the result.

Problem: GPUs write into each other's buffers, so a write must not reach a place that is still read.
Input:   pieces in their order, and the places of chunks.
Output:  actions, each after its dependencies at any GPU.
Cost:    for each place of the data, its actions, and sets of the actions before them.
Source:  ours. A value is named by its base (the own part or a received copy) and its summands. A
         received piece gets its own place in scratch, which is written only once, so no action
         waits for room. A piece that is already the result may go to the result's place. All reads
         of an own part at that place must come before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.data_layout import Layout
from forestcoll.runtimes.mscclpp.exporter.switch_pieces import Alike, Ways

__all__ = ["Action", "Slot", "actions_of", "in_order", "set_levels"]

OWN, DUE = -2, -1
MOST_SUMMANDS = 9
"""What is added to the first operand at once."""


@dataclass(slots=True, eq=False)
class Slot:
    """A place that holds a piece at a GPU.

    Attributes
    ----------
    peer : int
        The sender whose data it holds in scratch, or the GPU itself for its own sums; OWN for the
        own part; DUE for the result.
    layer : int
        Number of the slot among those of this sender.
    """

    gpu: int
    peer: int
    layer: int
    chunk: int
    first: int
    size: int


@dataclass(slots=True, eq=False)
class Action:
    """One operation of a GPU on one piece.

    Attributes
    ----------
    kind : str
        "put", "re", "copy", "gstore", "glres" or one on packets, as in
        :class:`forestcoll.runtimes.mscclpp.execution_plan.Operation`; "end" does nothing, but its
        dependencies must end before the launch does.
    gpu : int
        The GPU that executes it.
    sources : list of Slot
        At this GPU.
    target : Slot
        For a put, at another GPU.
    also : list of Slot
        Further targets of a multicast by a switch.
    level : int
        Above the levels of its dependencies.
    """

    kind: str
    gpu: int
    sources: list[Slot]
    target: Slot
    needs: list[Action] = field(default_factory=list)
    level: int = 0
    also: list[Slot] = field(default_factory=list)

    @property
    def targets(self) -> list[Slot]:
        """All slots that it writes."""
        return [self.target, *self.also]


_Key = tuple[int, tuple[int, ...]]
"""What a value is made of: the piece that was copied, or OWN, and the pieces that were added."""


@dataclass(slots=True)
class _Version:
    """A value at a GPU: its slot, the action that wrote it, and its readers."""

    slot: Slot
    action: Action | None
    readers: list[Action] = field(default_factory=list)


def actions_of(ways: Ways, layout: Layout, *, packets: bool = False) -> list[Action]:
    """Return all actions with their levels, grouped by place of the data.

    Parameters
    ----------
    packets : bool
        Whether GPUs send packets: puts then go to scratch alone, in which nothing else lies, and a
        sum begins with an operand that is no packet.

    Raises
    ------
    ExportError
        If a GPU sends data that it does not have.
    UnsupportedError
        If the runtime has no operation for what a switch does.
    """
    of_place = defaultdict[tuple[int, int], list[int]](list)
    for number, piece in enumerate(ways.pieces):
        of_place[piece.place].append(number)
    actions: list[Action] = []
    for place in sorted(of_place):
        found = _Place(ways, of_place[place], layout, packets).actions()
        set_levels(found)
        actions += found
    return actions + _own_copies(layout, {chunk for chunk, _ in of_place})


def set_levels(actions: Sequence[Action]) -> None:
    """Set the level of each action, above those of its dependencies."""
    for action in in_order(actions):
        action.level = 1 + max((need.level for need in action.needs), default=-1)


def in_order(actions: Sequence[Action]) -> list[Action]:
    """Return actions in a topological order of their dependencies."""
    left = {action: len(action.needs) for action in actions}
    needed_by = defaultdict[Action, list[Action]](list)
    for action in actions:
        for need in action.needs:
            needed_by[need].append(action)
    ready = [action for action in actions if not left[action]]
    for action in ready:
        for one in needed_by[action]:
            left[one] -= 1
            if not left[one]:
                ready.append(one)
    if len(ready) != len(actions):
        raise AssertionError("the actions of a place need each other in a cycle")
    return ready


_SENDING = ("put", "gstore", "glres")


class _Place:
    """Actions of all GPUs at one place of the data."""

    def __init__(self, ways: Ways, numbers: Sequence[int], layout: Layout, packets: bool) -> None:
        pieces = ways.pieces
        self.packets = packets
        self.ways, self.pieces, self.numbers, self.layout = ways, pieces, numbers, layout
        self.chunk, self.first = pieces[numbers[0]].place
        self.size = pieces[numbers[0]].size
        self.done: list[Action] = []
        self.versions: dict[tuple[int, _Key], _Version] = {}
        self.arrivals: dict[int, tuple[Action, Slot]] = {}
        self.stores: list[tuple[Action, _Version]] = []
        self.layers = Counter[tuple[int, int]]()
        self.coming = defaultdict[int, list[int]](list)
        for number in numbers:
            self.coming[pieces[number].head].append(number)

    def actions(self) -> list[Action]:
        alike = Alike.of(self.ways, self.numbers)
        for number in self.numbers:
            if number in self.arrivals or number in alike.fused:
                continue
            if number in self.ways.copies:
                self._store(alike.copies[self.ways.copies[number]], alike)
                continue
            piece = self.pieces[number]
            version = self._version(piece.tail, self._key(piece.tail, piece.needs))
            target = self._scratch(piece.head, piece.tail)
            put = self._do("put", piece.tail, [version], target)
            self.arrivals[number] = put, target
        for gpu in sorted({*self.coming, *self._due_at()}):
            self._settle(gpu)
        if self.packets:
            return self.done
        # In this order: results are in their places before stores are ordered, and scratch is
        # reused when all readers are known.
        self._order_stores()
        self._reuse_scratch()
        self._add_ends()
        return self.done

    def _key(self, gpu: int, numbers: Iterable[int]) -> _Key:
        """Name the value of a GPU after it received these pieces."""
        base = OWN if self.layout.own(gpu, self.chunk) is not None else DUE
        adds: list[int] = []
        for number in numbers:
            if self.pieces[number].adds and base != DUE:
                adds.append(number)
            else:
                base, adds = number, []
        return base, tuple(sorted(adds))

    def _version(self, gpu: int, key: _Key) -> _Version:
        """Return a value of a GPU, computed from existing ones if necessary."""
        found = self.versions.get((gpu, key))
        if found is None:
            found = self._made(gpu, key)
            self.versions[gpu, key] = found
        return found

    def _made(self, gpu: int, key: _Key) -> _Version:
        base, adds = key
        if not adds:
            if base == DUE:
                raise ExportError(
                    f"rank {gpu} sends what it does not have, of chunk {self.chunk}; verify the "
                    f"schedule first"
                )
            if base == OWN:
                return _Version(self._slot(gpu, OWN), None)
            put, slot = self.arrivals[base]
            return _Version(slot, put)
        start = max(self._parts_of(gpu, key), key=len)
        rest = [one for one in adds if one not in set(start)]
        parts = [self._version(gpu, (base, start))]
        parts += [self._version(gpu, (one, ())) for one in rest]
        return self._sum(gpu, parts)

    def _parts_of(self, gpu: int, key: _Key) -> list[tuple[int, ...]]:
        """Return the values of a GPU that can be extended to a sum."""
        base, adds = key
        whole = set(adds)
        return [
            (),
            *(
                there
                for (owner, (start, there)) in self.versions
                if (owner, start) == (gpu, base) and whole > set(there)
            ),
        ]

    def _sum(self, gpu: int, parts: list[_Version]) -> _Version:
        """Add up values, at most as many at a time as one operation takes."""
        if self.packets:
            return self._sum_of_packets(gpu, parts)
        while len(parts) > MOST_SUMMANDS + 1:
            head, *rest = parts
            cuts = range(0, len(rest), MOST_SUMMANDS)
            groups = [rest[cut : cut + MOST_SUMMANDS] for cut in cuts]
            parts = [head, *(self._sum(gpu, each) for each in groups)]
        if len(parts) == 1:
            return parts[0]
        target = self._scratch(gpu, gpu)
        return _Version(target, self._do("re", gpu, parts, target))

    def _sum_of_packets(self, gpu: int, parts: list[_Version]) -> _Version:
        """Add packets to a value, which is unpacked first if it came in packets."""
        sum_, *rest = parts
        if sum_.action is not None and sum_.action.kind == "put":
            target = self._scratch(gpu, gpu)
            sum_ = _Version(target, self._do("copy", gpu, [sum_], target))
        for cut in range(0, len(rest), MOST_SUMMANDS):
            target = self._scratch(gpu, gpu)
            read = [sum_, *rest[cut : cut + MOST_SUMMANDS]]
            sum_ = _Version(target, self._do("re", gpu, read, target))
        return sum_

    def _do(self, kind: str, gpu: int, read: Sequence[_Version], target: Slot) -> Action:
        needs = [one.action for one in read if one.action is not None]
        action = Action(kind, gpu, [one.slot for one in read], target, needs)
        for one in read:
            one.readers.append(action)
        self.done.append(action)
        return action

    def _scratch(self, gpu: int, peer: int) -> Slot:
        layer = self.layers[gpu, peer]
        self.layers[gpu, peer] += 1
        return Slot(gpu, peer, layer, self.chunk, self.first, self.size)

    def _slot(self, gpu: int, peer: int) -> Slot:
        return Slot(gpu, peer, 0, self.chunk, self.first, self.size)

    def _due_at(self) -> list[int]:
        gpus = range(self.layout.gpus)
        return [gpu for gpu in gpus if self.layout.result(gpu, self.chunk) is not None]

    def _settle(self, gpu: int) -> None:
        if self.layout.result(gpu, self.chunk) is None:
            return
        key = self._key(gpu, self.coming[gpu])
        if key == (DUE, ()) or (key == (OWN, ()) and self.layout.aliased):
            return
        version, due = self._version(gpu, key), self._slot(gpu, DUE)
        made = version.action
        readers = self._readers_of_own(gpu)
        if version.slot.peer == DUE or any(store.gpu == gpu for store, _ in self.stores):
            self._move_sum(version, due)
            return
        if made is not None and made.kind == "re":
            made.needs += [one for one in readers if one is not made]
            self._move(version, due)
        elif (
            made is not None
            and not (self.packets and made.kind == "put")
            and set(readers) <= self._before(made)
        ):
            self._move(version, due)
        else:
            copy = self._do("copy", gpu, [version], due)
            copy.needs += readers

    def _move_sum(self, version: _Version, due: Slot) -> None:
        """Form a sum that a switch is to multicast in the place of the result."""
        made = version.action
        if made is not None and made.kind == "re" and version.slot is not due:
            made.needs += [one for one in self._readers_of_own(made.gpu) if one is not made]
            self._move(version, due)

    def _store(self, members: Sequence[int], alike: Alike) -> None:
        """Let a switch multicast a value, or the sum that it forms of all GPUs."""
        first = self.pieces[members[0]]
        gpu, heads = first.tail, [self.pieces[one].head for one in members]
        key = self._key(gpu, first.needs)
        for number, head in zip(members, heads, strict=True):
            if self._key(head, self.coming[head]) != (number, ()):
                raise self._refused(f"what rank {head} gets from it is not its result")
        if self._key(gpu, self.coming[gpu]) != key:
            raise self._refused(f"what rank {gpu} sends is not its result")
        due = self._slot(gpu, DUE)
        fused = alike.is_fused(key[1], (gpu, *heads), self.pieces)
        if fused and key[0] != OWN:
            raise self._refused(f"rank {gpu} adds to what it got, not to what it has")
        if fused:
            parts = [self._version(one, (OWN, ())) for one in (gpu, *heads)]
            action = Action("glres", gpu, [parts[0].slot], due)
            for part in parts:
                part.readers.append(action)
            self.done.append(action)
            version = self.versions[gpu, key] = _Version(due, action)
        else:
            version = self._version(gpu, key)
            action = self._do("gstore", gpu, [version], due)
        self.stores.append((action, version))
        for number, head in zip(members, heads, strict=True):
            slot = self._slot(head, DUE)
            action.also.append(slot)
            self.arrivals[number] = action, slot

    def _order_stores(self) -> None:
        """Order reads of a place that a switch writes: at its own GPU before, at others never."""
        for place, (store, version) in enumerate(self.stores):
            later = {one for one, _ in self.stores[place:]}
            here = self.layout.aliased or (version.slot.peer == DUE and store.kind == "gstore")
            reads = [*version.readers] if here else []
            reads += self._readers_of_own(store.gpu)
            store.needs += [one for one in dict.fromkeys(reads) if one not in later]
            before = self._before(store) | {store}
            if store in self._before(store):
                raise self._refused(f"rank {store.gpu} sends on what it has from there")
            for slot in store.also:
                if not set(self._readers_of_own(slot.gpu)) <= before:
                    raise self._refused(f"rank {slot.gpu} has yet to send what is written over")

    def _refused(self, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"unsupported: a switch multicasts chunk {self.chunk} to several GPUs, which in "
            f"MSCCL++ writes the result of all of them, but {why}; "
            "take a schedule without multicast"
        )

    def _move(self, version: _Version, slot: Slot) -> None:
        assert version.action is not None
        old, version.slot, version.action.target = version.slot, slot, slot
        for reader in version.readers:
            reader.sources = [slot if one is old else one for one in reader.sources]

    def _readers_of_own(self, gpu: int) -> list[Action]:
        """Return the readers of a GPU's own part, if the result may share its place."""
        own = self.versions.get((gpu, (OWN, ())))
        return own.readers if own is not None and self.layout.aliased else []

    def _before(self, action: Action) -> set[Action]:
        found, left = set[Action](), [action]
        while left:
            for need in left.pop().needs:
                if need not in found:
                    found.add(need)
                    left.append(need)
        return found

    def _reuse_scratch(self) -> None:
        """Form sums in the slot of their first summand, if it has no other reader."""
        readers = Counter(slot for action in self.done for slot in action.sources)
        taken = set[Slot]()
        for (gpu, _), version in self.versions.items():
            made = version.action
            if made is None or made.kind != "re" or version.slot.peer != gpu:
                continue
            free = [
                one
                for one in made.sources
                if one.peer >= 0 and readers[one] == 1 and one not in taken
            ]
            if free:
                taken.add(free[0])
                self._move(version, free[0])

    def _add_ends(self) -> None:
        """Make every GPU wait for the data that it receives before its launch ends."""
        seen = {(need, action.gpu) for action in self.done for need in action.needs}
        for put in [action for action in self.done if action.kind in _SENDING]:
            for slot in put.targets:
                if slot.gpu != put.gpu and (put, slot.gpu) not in seen:
                    self.done.append(Action("end", slot.gpu, [], slot, [put]))


def _own_copies(layout: Layout, moved: set[int]) -> list[Action]:
    """Return out-of-place copies of own parts, for chunks that never move."""
    if layout.aliased:
        return []
    found = []
    for chunk, size in enumerate(layout.size):
        for gpu in range(layout.gpus) if chunk not in moved else ():
            if layout.own(gpu, chunk) is not None and layout.result(gpu, chunk) is not None:
                source, due = (Slot(gpu, at, 0, chunk, 0, size) for at in (OWN, DUE))
                found.append(Action("copy", gpu, [source], due))
    return found
