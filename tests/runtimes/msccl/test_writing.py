"""MSCCL's XML, written."""

from forestcoll import compile_program, generate
from forestcoll.runtimes.msccl import (
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
    parse_algorithm,
    written_algorithm,
)
from forestcoll.runtimes.msccl.exporter import to_msccl


def test_written_algorithms_are_read_back() -> None:
    """To the last step."""
    algorithm = to_msccl(
        compile_program(generate("mi250:boxes=1", collective="allreduce").schedule)
    )
    assert parse_algorithm(written_algorithm(algorithm)).algorithm == algorithm


def test_names_are_quoted_and_all_attributes_are_there() -> None:
    """What the executor misses an attribute of, it ignores."""
    step = Instruction("nop", "i", 0, "o", 0, 0, 1, 2, True)
    gpu = Gpu(1, 2, 3, (Threadblock(-1, 4, 5, (step,)),))
    algorithm = Algorithm('a<b & "c"', "LL", 6, 7, "reduce", True, False, 8, 9, (gpu,))
    assert written_algorithm(algorithm) == (
        """<algo name='a&lt;b &amp; "c"' proto="LL" nchannels="6" nchunksperloop="7" ngpus="1" """
        'coll="reduce" inplace="1" outofplace="0" minBytes="8" maxBytes="9">\n'
        '  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="3">\n'
        '    <tb id="0" send="-1" recv="4" chan="5">\n'
        '      <step s="0" type="nop" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="0" '
        'depid="1" deps="2" hasdep="1"/>\n'
        "    </tb>\n  </gpu>\n</algo>\n"
    )


def test_copies_are_written_and_read_back() -> None:
    """Before the threadblocks, as SCCL's tools have them."""
    gpu = Gpu(2, 2, 0, (Threadblock(-1, -1, 0, ()),), copies=((0, 1), (1, 0)))
    algorithm = Algorithm("a", "LL", 1, 2, "custom", False, True, 0, 0, (gpu,))
    text = written_algorithm(algorithm)
    assert text.index('<copy i_off="0" o_off="1"/>') < text.index("<tb ")
    assert parse_algorithm(text).algorithm == algorithm
