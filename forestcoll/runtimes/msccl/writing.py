"""MSCCL XML writer, with all attributes that the current executor requires."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from forestcoll.runtimes.msccl.algorithm import Algorithm, Gpu, Instruction, Threadblock

__all__ = ["written_algorithm"]


def written_algorithm(algorithm: Algorithm) -> str:
    """Return the XML of an algorithm, one line per element; deterministic."""
    return "\n".join([*_algorithm_lines(algorithm), ""])


def _algorithm_lines(algorithm: Algorithm) -> Iterator[str]:
    yield _element(
        "algo",
        name=algorithm.name,
        proto=algorithm.protocol,
        nchannels=algorithm.channels,
        nchunksperloop=algorithm.chunks_per_loop,
        ngpus=len(algorithm.gpus),
        coll=algorithm.collective,
        inplace=int(algorithm.in_place),
        outofplace=int(algorithm.out_of_place),
        minBytes=algorithm.min_bytes,
        maxBytes=algorithm.max_bytes,
    )
    for rank, gpu in enumerate(algorithm.gpus):
        yield from _gpu_lines(rank, gpu)
    yield "</algo>"


def _gpu_lines(rank: int, gpu: Gpu) -> Iterator[str]:
    yield "  " + _element(
        "gpu",
        id=rank,
        i_chunks=gpu.input_chunks,
        o_chunks=gpu.output_chunks,
        s_chunks=gpu.scratch_chunks,
    )
    for source, target in gpu.copies:
        yield "    " + _element("copy", "/>", i_off=source, o_off=target)
    for number, block in enumerate(gpu.threadblocks):
        yield from _block_lines(number, block)
    yield "  </gpu>"


def _block_lines(number: int, block: Threadblock) -> Iterator[str]:
    yield "    " + _element(
        "tb", id=number, send=block.send, recv=block.receive, chan=block.channel
    )
    for step, instruction in enumerate(block.instructions):
        yield "      " + _step(step, instruction)
    yield "    </tb>"


def _step(number: int, step: Instruction) -> str:
    return _element(
        "step",
        "/>",
        s=number,
        type=step.kind,
        srcbuf=step.source,
        srcoff=step.source_offset,
        dstbuf=step.target,
        dstoff=step.target_offset,
        cnt=step.count,
        depid=step.waits_for,
        deps=step.waits_step,
        hasdep=int(step.is_waited_for),
    )


def _element(element: str, end: str = ">", /, **attributes: str | int) -> str:
    fields = " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{element} {fields}{end}"
