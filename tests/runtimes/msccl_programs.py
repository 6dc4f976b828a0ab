"""Programs of MSCCL written by hand, from the format: an element a line, and changes of a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forestcoll.runtimes.interpretation.findings import Finding, Findings
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter import interpret

NOBODY = -1


@dataclass
class Block:
    """A threadblock: whom it sends to, whom it receives from, and the lines of its steps."""

    send: int = NOBODY
    receive: int = NOBODY
    channel: int = 0
    lines: list[str] = field(default_factory=list)

    def step(
        self,
        kind: str,
        source: str = "i0",
        target: str = "o0",
        count: int = 1,
        wait: tuple[int, int] = (-1, -1),
        sets_flag: bool = False,
    ) -> Block:
        """Add a step; buffers are a letter and an offset."""
        self.lines.append(
            f'<step s="{len(self.lines)}" type="{kind}" srcbuf="{source[0]}" '
            f'srcoff="{source[1:]}" dstbuf="{target[0]}" dstoff="{target[1:]}" cnt="{count}" '
            f'depid="{wait[0]}" deps="{wait[1]}" hasdep="{int(sets_flag)}"/>'
        )
        return self


def xml(
    collective: str,
    gpus: Sequence[Sequence[Block]],
    chunks: int,
    buffers: tuple[int, int, int],
    **more: object,
) -> str:
    """Write a file; ``buffers`` are the chunks of input, output and scratch."""
    attributes = {
        "name": "by hand",
        "proto": "Simple",
        "nchannels": 1 + max(block.channel for gpu in gpus for block in gpu),
        "nchunksperloop": chunks,
        "ngpus": len(gpus),
        "coll": collective,
        "inplace": 0,
        "outofplace": 1,
        "minBytes": 0,
        "maxBytes": 0,
    }
    attributes |= more
    lines = ["<algo " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + ">"]
    for rank, gpu in enumerate(gpus):
        i, o, s = buffers
        lines.append(f'<gpu id="{rank}" i_chunks="{i}" o_chunks="{o}" s_chunks="{s}">')
        for number, block in enumerate(gpu):
            lines.append(
                f'<tb id="{number}" send="{block.send}" recv="{block.receive}" '
                f'chan="{block.channel}">'
            )
            lines += [*block.lines, "</tb>"]
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>", ""])


def ring_allgather(gpus: int, *, in_place: bool = False, **more: object) -> str:
    """Each passes on what comes; out of place, a second threadblock copies the own chunk."""
    made = []
    for rank in range(gpus):
        block = Block((rank + 1) % gpus, (rank - 1) % gpus)
        block.step("s", f"o{rank}" if in_place else "i0", f"o{rank}")
        for hop in range(1, gpus):
            chunk = f"o{(rank - hop) % gpus}"
            block.step("r" if hop == gpus - 1 else "rcs", chunk, chunk)
        copy = Block().step("cpy", "i0", f"o{rank}")
        made.append([block] if in_place else [block, copy])
    modes = {"inplace": int(in_place), "outofplace": int(not in_place)}
    return xml("allgather", made, gpus, (1, gpus, 0), **(modes | more))


def all_pairs_allreduce(gpus: int, *, in_place: bool = False, **more: object) -> str:
    """Each collects one chunk of all in scratch, adds it up and sends the sum to all.

    Threadblock 0 adds, with a nop for each other wait; the others have a peer each.
    """
    made = []
    kept = "i" if in_place else "o"
    for rank in range(gpus):
        peers = [peer for peer in range(gpus) if peer != rank]
        adder = Block()
        for block in range(1, len(peers)):
            adder.step("nop", wait=(block, 1))
        adder.step("cpy", f"i{rank}", f"{kept}{rank}", wait=(len(peers), 1)) if not in_place else 0
        for place in range(len(peers)):
            wait = (len(peers), 1) if in_place and not place else (-1, -1)
            last = place == len(peers) - 1
            adder.step("re", f"s{place}", f"{kept}{rank}", wait=wait, sets_flag=last)
        done = (0, len(adder.lines) - 1)
        blocks = [adder]
        for place, peer in enumerate(peers):
            block = Block(peer, peer).step("s", f"i{peer}", "s0")
            block.step("r", "i0", f"s{place}", sets_flag=True)
            block.step("s", f"{kept}{rank}", f"{kept}{rank}", wait=done)
            blocks.append(block.step("r", f"{kept}{peer}", f"{kept}{peer}"))
        made.append(blocks)
    modes = {"inplace": int(in_place), "outofplace": int(not in_place)}
    return xml("allreduce", made, gpus, (gpus, gpus, gpus), **(modes | more))


def halving_reduce_scatter(gpus: int, *, in_place: bool = False, **more: object) -> str:
    """In each round half of what is left goes to a partner; out of place, all of it in scratch."""
    made = []
    kept = "i" if in_place else "s"
    rounds = gpus.bit_length() - 1
    for rank in range(gpus):
        blocks = []
        if not in_place:
            blocks.append(Block().step("cpy", "i0", "s0", gpus, sets_flag=True))
        low, wait = 0, (-1, -1) if in_place else (0, 0)
        for turn in range(rounds):
            half = gpus >> (turn + 1)
            upper = bool(rank & half)
            mine, other = (low + half, low) if upper else (low, low + half)
            block = Block(rank ^ half, rank ^ half)
            block.step("s", f"{kept}{other}", f"{kept}{other}", half, wait)
            block.step("rrc", f"{kept}{mine}", f"{kept}{mine}", half, sets_flag=True)
            wait = (len(blocks), 1)
            blocks.append(block)
            low = mine
        if not in_place:
            blocks.append(Block().step("cpy", f"s{rank}", "o0", wait=wait))
        made.append(blocks)
    modes = {"inplace": int(in_place), "outofplace": int(not in_place)}
    return xml("reducescatter", made, gpus, (gpus, 1, gpus), **(modes | more))


def ring_allreduce(gpus: int, **more: object) -> str:
    """In place: one threadblock sums around the ring, another passes the sums on.

    That the second writes a chunk after the first has read it follows from what comes by others.
    """
    made = []
    for rank in range(gpus):
        after, before = (rank + 1) % gpus, (rank - 1) % gpus
        adder, passer = Block(after, before), Block(after, before, 1)
        adder.step("s", f"i{before}", f"i{before}")
        for hop in range(2, gpus + 1):
            chunk = f"i{(rank - hop) % gpus}"
            adder.step("rrc" if hop == gpus else "rrs", chunk, chunk, sets_flag=hop == gpus)
        passer.step("s", f"i{rank}", f"i{rank}", wait=(0, gpus - 1))
        for hop in range(1, gpus):
            chunk = f"i{(rank - hop) % gpus}"
            passer.step("r" if hop == gpus - 1 else "rcs", chunk, chunk)
        made.append([adder, passer])
    modes = {"inplace": 1, "outofplace": 0}
    return xml("allreduce", made, gpus, (gpus, gpus, 0), **(modes | more))


def changed(text: str, line: int, **attributes: object) -> str:
    """Give the element of a line other attributes."""
    lines = text.split("\n")
    for key, value in attributes.items():
        lines[line - 1], count = re.subn(rf'\b{key}="[^"]*"', f'{key}="{value}"', lines[line - 1])
        assert count == 1, (key, lines[line - 1])
    return "\n".join(lines)


def dropped(text: str, line: int) -> str:
    """Leave a step out, and number those after it anew; waits stay as they are."""
    lines = text.split("\n")
    assert lines[line - 1].startswith("<step")
    del lines[line - 1]
    place = line - 1
    while lines[place].startswith("<step"):
        number = int(re.search(r's="(\d+)"', lines[place])[1])  # type: ignore[index]
        lines[place] = lines[place].replace(f's="{number}"', f's="{number - 1}"', 1)
        place += 1
    return "\n".join(lines)


def line_of(text: str, gpu: int, block: int, step: int = -1) -> int:
    """Return the line of a step, or of the threadblock."""
    lines = text.split("\n")
    line = lines.index(next(one for one in lines if one.startswith(f'<gpu id="{gpu}"')))
    line = next(n for n in range(line, len(lines)) if lines[n].startswith(f'<tb id="{block}"'))
    return line + 2 + step


def found(text: str, **options: int) -> Findings:
    return interpret(parse_algorithm(text).algorithm, **options)


def kinds(findings: Iterable[Finding]) -> set[str]:
    return {str(one.kind) for one in findings}
