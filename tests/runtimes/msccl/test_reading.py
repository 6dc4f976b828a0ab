"""Reading files that nobody vouches for."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.msccl import (
    CUSTOM,
    Algorithm,
    Instruction,
    parse_algorithm,
    read_algorithm,
    read_leniently,
    reading,
)
from forestcoll.runtimes.msccl.interpreter import interpret
from tests.random_topologies import rounds
from tests.runtimes.msccl_programs import Block, all_pairs_allreduce, ring_allgather, xml

TEXT = xml(
    "allgather",
    [
        [Block(1, 1, 1).step("s", "i0", "o0", 2, wait=(1, 3), sets_flag=True).step("nop"), Block()],
        [Block()],
    ],
    4,
    (2, 4, 1),
    minBytes=8,
    maxBytes=2**40,
)


def test_all_of_it_is_read_with_its_lines(tmp_path: Path) -> None:
    """The first step stands in line 4, its threadblock in 3, its GPU in 2."""
    path = tmp_path / "all.xml"
    path.write_text(TEXT)
    algorithm = read_algorithm(path)
    assert (algorithm.name, algorithm.protocol, algorithm.collective) == (
        "by hand",
        "Simple",
        "allgather",
    )
    assert (algorithm.channels, algorithm.chunks_per_loop) == (2, 4)
    assert (algorithm.min_bytes, algorithm.max_bytes) == (8, 2**40)
    assert (algorithm.in_place, algorithm.out_of_place) == (False, True)
    gpu = algorithm.gpus[0]
    assert (gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks, gpu.line) == (2, 4, 1, 2)
    block = gpu.threadblocks[0]
    assert (block.send, block.receive, block.channel, block.line) == (1, 1, 1, 3)
    step = block.instructions[0]
    assert step == Instruction("s", "i", 0, "o", 0, 2, 1, 3, True)
    assert step.line == 4
    assert read_leniently(path).remarks == ()


def test_elements_may_come_in_any_order() -> None:
    """GPUs and threadblocks go by their numbers."""
    lines = TEXT.split("\n")
    first = lines.index('<gpu id="1" i_chunks="2" o_chunks="4" s_chunks="1">')
    turned = [lines[0], *lines[first:-2], *lines[1:first], *lines[-2:]]
    assert parse_algorithm("\n".join(turned)).algorithm == parse_algorithm(TEXT).algorithm


def test_comments_are_passed_over() -> None:
    commented = "<!-- by hand -->\n" + TEXT.replace("<tb ", "<!-- a\nb --><tb ", 1)
    found = parse_algorithm(commented)
    assert found.algorithm == parse_algorithm(TEXT).algorithm
    assert found.algorithm.gpus[0].threadblocks[0].instructions[0].line == 6
    assert not found.remarks


REQUIRED = {
    "name": "unnamed",
    "proto": "Simple",
    "nchannels": "2",
    "nchunksperloop": "4",
    "ngpus": "2",
    "inplace": "0",
    "outofplace": "1",
    "minBytes": "0",
    "maxBytes": "0",
}


@pytest.mark.parametrize("key", REQUIRED)
def test_missing_required_fields_are_assumed_and_reported(key: str, tmp_path: Path) -> None:
    """Read strictly, it is refused."""
    path = tmp_path / "short.xml"
    path.write_text(TEXT.replace(f" {key}=", " unknown=", 1))
    found = read_leniently(path)
    (remark,) = found.remarks
    assert (remark.missing, remark.line) == (key, 1)
    assert f"ignores the file; {REQUIRED[key]} is assumed" in remark.message
    assert interpret(found.algorithm)
    with pytest.raises(InvalidScheduleError, match=rf"short\.xml:1: algo has no {key}.*; add it"):
        read_algorithm(path)


def test_the_chunks_that_are_assumed_are_those_of_the_larger_buffer() -> None:
    for collective, due in (("reducescatter", 3), ("allgather", 5), ("broadcast", 5)):
        text = xml(collective, [[Block()]], 9, (3, 5, 0)).replace(" nchunksperloop=", " other=")
        assert parse_algorithm(text).algorithm.chunks_per_loop == due


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("allgather", "reduce_scatter", "the executor takes reducescatter only", 1),
        ('<step s="0"', '<step s="7"', "s is 7 where it should be 0", 4),
        ("<algo", '<?xml version="1.0"?>\n<algo', "does not read <?xml ...?>", 1),
        ("<tb", "\t<tb", "does not read tabs", 3),
        ("</algo>", "<more/></algo>", "more is not an element of MSCCL", 14),
    ],
)
def test_other_readings_are_reported(old: str, new: str, message: str, line: int) -> None:
    (remark,) = parse_algorithm(TEXT.replace(old, new, 1)).remarks
    assert message in remark.message
    assert (remark.line, remark.missing) == (line, "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</algo>", "", "15: not XML: no element found; write the file again, it may be cut off"),
        ("</tb>", "</gpu>", "6: not XML: mismatched tag"),
        ('cnt="2"', 'cnt="2" cnt="2"', "4: not XML: duplicate attribute"),
        ("<algo", "<!DOCTYPE algo><algo", "1: has a document type"),
        ("<algo", "<topology/><algo", "1: begins with topology; an algorithm of MSCCL begins"),
        ("<gpu", "<tb/><gpu", "2: tb stands in algo; it must stand inside gpu"),
        ("<tb", "<gpu><tb", "3: gpu stands in gpu; it must stand inside algo"),
        ("<tb", "hello<tb", "3: text between elements, 'hello'; take it out"),
        ("<gpu", "<a>" * 16 + "<gpu", "2: elements within elements, 16 deep"),
        ('coll="allgather"', 'coll="gossip"', "1: coll of algo is 'gossip'; it must be one of all"),
        ('proto="Simple"', 'proto="simple"', "1: proto of algo is 'simple'; it must be one of Sim"),
        ('name="by hand"', f'name="{"x" * 256}"', "1: name of algo has over 255 letters"),
        ('nchunksperloop="4"', 'nchunksperloop="0"', "1: nchunksperloop is 0; it must be 1 or"),
        ('ngpus="2"', 'ngpus="3"', "1: ngpus is 3 and there are the GPUs 0, 1; there must be 0 to"),
        ('gpu id="1"', 'gpu id="2"', "1: ngpus is 2 and there are the GPUs 0, 2"),
        ('gpu id="1"', 'gpu id="0"', "10: gpu 0 is there twice"),
        ('tb id="1"', 'tb id="0"', "7: tb 0 is there twice in its GPU"),
        ('tb id="1"', 'tb id="3"', "2: gpu 0 has the threadblocks 0, 3; number them from 0 up"),
        ('i_chunks="2"', "", "2: i_chunks of gpu is missing; it must be a whole number"),
        ('s_chunks="1"', 's_chunks="-1"', "2: s_chunks of gpu is '-1'; it must be from 0 to"),
        ('send="1"', 'send="one"', "3: send of tb is 'one'; it must be a whole number"),
        ('chan="1"', "", "3: chan of tb is missing"),
        ('type="s"', 'type="send"', "4: type of step is 'send'; it must be one of cpy, nop, r,"),
        ('srcbuf="i"', 'srcbuf="x"', "4: srcbuf of step is 'x'; it must be i, o or s"),
        ('dstbuf="o"', "", "4: dstbuf of step is missing; it must be i, o or s"),
        ('srcoff="0"', 'srcoff="0x10"', "4: srcoff of step is '0x10'; it must be a whole number"),
        ('srcoff="0"', 'srcoff="\u0663"', "4: srcoff of step is '\u0663'; it must be a whole"),
        ('dstoff="0"', 'dstoff="9999999999"', "4: dstoff of step is '9999999999'; it must be from"),
        ('cnt="2"', 'cnt="-1"', "4: cnt of step is '-1'; it must be 0 or more"),
        ('depid="1"', f'depid="{"1" * 5000}"', "4: depid of step is '1111"),
        ('hasdep="1"', 'hasdep="2"', "4: hasdep of step is '2'; it must be 0 or 1"),
        ('inplace="0"', 'inplace="yes"', "1: inplace of algo is 'yes'; it must be 0 or 1"),
        ('minBytes="8"', 'minBytes="1K"', "1: minBytes of algo is '1K'; it must be a whole number"),
        ('maxBytes="1099511627776"', f'maxBytes="{2**63}"', "1: maxBytes of algo is '92233720368"),
    ],
)
def test_invalid_algorithms_are_refused_with_the_line(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidScheduleError) as raised:
        parse_algorithm(TEXT.replace(old, new, 1), "file.xml")
    assert str(raised.value).startswith(f"file.xml:{message}"), raised.value
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


def test_unreadable_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidScheduleError, match=r"none\.xml: cannot be read: no such file"):
        read_algorithm(tmp_path / "none.xml")
    with pytest.raises(InvalidScheduleError, match="cannot be read: is a directory"):
        read_algorithm(tmp_path)
    path = tmp_path / "large.xml"
    path.write_text(TEXT)
    monkeypatch.setattr(reading, "MOST_BYTES", len(TEXT) - 1)
    with pytest.raises(InvalidScheduleError, match=r"large\.xml: has over 0 MB, too much to read"):
        read_leniently(path)


LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(12)
)
BOMBS = {
    "entities": f'<!DOCTYPE algo [{LAUGHS}]><algo name="&l11;"/>',
    "quadratic": f'<!DOCTYPE algo [<!ENTITY a "{"a" * 10**6}">]><algo name="{"&a;" * 10**4}"/>',
    "outside": '<!DOCTYPE algo SYSTEM "file:///etc/passwd"><algo/>',
    "deep": "<algo>" * 10**6,
    "unknown": "<algo>" + "<a/>" * 10**6,
    "endless name": "<" + "a" * 10**7,
    "zeros": "\0" * 10**6,
    "other codes": TEXT.encode("utf-16").decode("latin-1"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_are_refused_in_no_time_and_space(kind: str) -> None:
    """A second or two, and 40 MB, which is more than any of the texts."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with pytest.raises(InvalidScheduleError):
            parse_algorithm(BOMBS[kind])
        assert time.perf_counter() - start < 5
        assert tracemalloc.get_traced_memory()[1] < 40 * 10**6
    finally:
        tracemalloc.stop()


WHOLE = all_pairs_allreduce(3).encode()


def judged(data: bytes) -> Algorithm | None:
    """Read and interpret; nothing but our errors may come out."""
    try:
        algorithm = parse_algorithm(data).algorithm
        interpret(algorithm)
    except InvalidScheduleError:
        return None
    return algorithm


@settings(max_examples=rounds(60), deadline=None)
@given(st.integers(0, len(WHOLE.rstrip()) - 1))
def test_truncated_files_are_refused(end: int) -> None:
    assert judged(WHOLE[:end]) is None


@settings(max_examples=rounds(150), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(WHOLE) - 1),
            st.sampled_from([b"", b"0", b"9", b"-", b"<", b'"', b"s", b"r", b"\xff", b"&", b"1e9"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_mutated_files_are_refused_or_interpreted(changes: list[tuple[int, bytes]]) -> None:
    """Letters of a right file replaced by others: refused in our words, or interpreted."""
    data = WHOLE
    for place, new in changes:
        data = data[:place] + new + data[place + 1 :]
    judged(data)


def test_handwritten_files_have_no_remarks() -> None:
    for text in (ring_allgather(3), all_pairs_allreduce(3, in_place=True)):
        assert parse_algorithm(text).remarks == ()


def test_a_file_without_its_collective_is_custom() -> None:
    """The executor needs coll, so the strict reader refuses it; the other assumes nothing."""
    reading = parse_algorithm(TEXT.replace('coll="allgather"', ""))
    assert reading.algorithm.collective == CUSTOM
    assert [one.missing for one in reading.remarks] == ["coll"]
    reading = parse_algorithm(TEXT.replace('coll="allgather"', 'coll="custom"'))
    assert reading.algorithm.collective == CUSTOM
    assert reading.remarks[0].message == "coll is custom; the executor takes those of NCCL only"


def test_copies_of_sccls_tools_are_read_and_remarked_once() -> None:
    copies = '<copy i_off="0" o_off="2"/>\n<copy i_off="1" o_off="3"/>\n<tb id="0" '
    reading = parse_algorithm(TEXT.replace('<tb id="0" ', copies))
    assert [gpu.copies for gpu in reading.algorithm.gpus] == [((0, 2), (1, 3))] * 2
    assert [one.line for one in reading.remarks] == [3]
    assert "executors of MSCCL ignore it" in reading.remarks[0].message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<tb id="0" ', '<copy i_off="0"/><tb id="0" ', "3: o_off of copy is missing; it must be"),
        ('<tb id="0" ', '<copy i_off="-1" o_off="0"/><tb id="0" ', "3: i_off of copy is '-1'"),
        ("</algo>", '<copy i_off="0" o_off="0"/></algo>', "copy stands in algo; it must stand"),
        ("<step s", '<op step="0" type="s" buf="o" off="0"/><step s', "4: op is of SCCL's second"),
    ],
)
def test_copies_and_operations_that_are_not_known_are_refused(
    old: str, new: str, message: str
) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        parse_algorithm(TEXT.replace(old, new, 1))
