"""Programs exported, and executed by a machine that shares nothing with the export."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import compile_program, generate
from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    RuntimeLimitError,
    UnsupportedError,
)
from forestcoll.runtimes.export_limits import Excess
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm, written_algorithm
from forestcoll.runtimes.msccl.exporter import (
    MscclOptions,
    executor_limits,
    msccl_exporter,
    to_msccl,
)
from forestcoll.runtimes.msccl.exporter.executor_limits import excess_of
from forestcoll.runtimes.msccl.exporter.msccl_exporter import Draft
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.schedule import Chunks, Send, verify
from forestcoll.schedule.program import Program
from forestcoll.topology import load_topology
from tests.baselines.claims import CLAIMS, load, make
from tests.baselines.once_each import every_row
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, build_topology, random_topology, rounds
from tests.schedule.made.programs import COLLECTIVES, by_hand, line
from tests.schedule.made.run_msccl import RIGHT, carried_out

SMALL = ("ring:nodes=7", "complete:nodes=6", "torus:dims=3x3", "dgx_a100:boxes=1", "paper_example")
"""Where methods are tried: the first two that each claims."""

CASES = [
    (method, collective, name)
    for method, claims in CLAIMS.items()
    for collective, claim in claims.items()
    for name in [name for name in SMALL if name in claim.does][:2]
    if method not in ("sccl", "taccl", "teccl", "sum-exchange")
] + [
    ("sccl", "allgather", "complete:nodes=6"),
    ("taccl", "allreduce", "ring:nodes=7"),
    ("teccl", "allreduce", "ring:nodes=7"),
]


def check(algorithm: Algorithm, passes: int = 1) -> None:
    """Right however it may be called, one chunk to a queue, threadblocks in turn or at random."""
    calls = [(True, algorithm.in_place), (False, algorithm.out_of_place)]
    assert any(may for _, may in calls)
    for (in_place, may), seed in product(calls, (0, 1)):
        if may:
            assert carried_out(algorithm, in_place, passes=passes, seed=seed) == RIGHT


@pytest.mark.first_rows(6)
@pytest.mark.parametrize(("method", "collective", "name"), every_row(5, CASES))
def test_exported_schedules_of_methods_are_right(method: str, collective: str, name: str) -> None:
    """Trees, steps and clocks; also read again, in two instances and in place."""
    schedule = make(method, collective, name)
    verify(schedule)
    program = compile_program(schedule)
    algorithm = to_msccl(program)
    check(algorithm)
    again = parse_algorithm(written_algorithm(algorithm)).algorithm
    assert again == algorithm
    if collective != "all-to-all":
        check(to_msccl(program, MscclOptions(in_place=True, instances=2, channels=2)))


@pytest.mark.parametrize("name", ["torus:dims=3x3", "paper_example"])
def test_exchanges_of_sums_are_refused(name: str) -> None:
    """Sums that go on apart from each other would need a buffer each; MSCCL++ has those."""
    program = compile_program(make("sum-exchange", "allreduce", name))
    with pytest.raises(UnsupportedError, match=r"a sum of chunk \d that is none of those"):
        to_msccl(program)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.each_value_once
def test_no_order_of_threadblocks_deadlocks(kind: str, collective: str) -> None:
    """Networks with trees of any size, two passes, queues of one chunk; nothing races.

    Three threadblocks of the allreduce on the first once waited for each other's room.
    """
    root = 0 if collective in ("broadcast", "reduce") else None
    for seed in range(3):
        topology = random_topology(seed, kind)
        program = compile_program(generate(topology, collective=collective, root=root).schedule)
        algorithm = to_msccl(program, MscclOptions(channels=1 + seed))
        check(algorithm, passes=2)
        assert interpret(algorithm, root=root).is_right


@settings(max_examples=rounds(15, 5), deadline=None)
@given(st.data())
def test_any_network_comes_out_right(data: st.DataObject) -> None:
    """In any number of channels and instances."""
    topology = build_topology("directed", lambda low, high: data.draw(st.integers(low, high)))
    collective = data.draw(st.sampled_from(COLLECTIVES))
    options = MscclOptions(
        channels=data.draw(st.integers(1, 4)), instances=data.draw(st.integers(1, 2))
    )
    try:
        algorithm = to_msccl(
            compile_program(generate(topology, collective=collective).schedule), options
        )
    except ExportError:  # of a limit; nothing else may go wrong
        return
    check(algorithm)


def test_two_gpus_that_gather_are_this_file() -> None:
    """By hand: each sends its shard, gets the other's, and copies its own."""
    sends = [Send(0, 0, 0, 1), Send(0, 1, 1, 0)]
    program = compile_program(by_hand(line(2), "allgather", Chunks.equal([0, 1], 2), sends))
    none = 'depid="-1" deps="-1" hasdep="0"/>'
    step = '      <step s="0" type="{}" srcbuf="{}" srcoff="{}" dstbuf="{}" dstoff="{}" cnt="1" '
    head = '    <tb id="{}" send="{}" recv="{}" chan="0">'

    def gpu(rank: int) -> list[str]:
        other = 1 - rank
        out = [head.format(0, other, -1), step.format("s", "i", 0, "i", 0) + none, "    </tb>"]
        into = [head.format(1, -1, other), step.format("r", "o", other, "o", other) + none]
        own = [head.format(2, -1, -1), step.format("cpy", "i", 0, "o", rank) + none, "    </tb>"]
        first = f'  <gpu id="{rank}" i_chunks="1" o_chunks="2" s_chunks="0">'
        return [first, *out, *into, "    </tb>", *own, "  </gpu>"]

    assert written_algorithm(to_msccl(program)).splitlines() == [
        '<algo name="by hand-allgather-torus:dims=2,wrap=false" proto="Simple" nchannels="1" '
        'nchunksperloop="2" ngpus="2" coll="allgather" inplace="0" outofplace="1" minBytes="0" '
        'maxBytes="0">',
        *gpu(0),
        *gpu(1),
        "</algo>",
    ]


def test_in_place_nothing_is_copied() -> None:
    """A gathering out of place copies each GPU's own part; a reduction has no need to."""
    gather = compile_program(generate("ring:nodes=4").schedule)
    kinds = {
        in_place: {
            step.kind
            for gpu in to_msccl(gather, MscclOptions(in_place=in_place)).gpus
            for block in gpu.threadblocks
            for step in block.instructions
        }
        for in_place in (False, True)
    }
    assert kinds[False] - kinds[True] == {"cpy"}
    both = to_msccl(compile_program(generate("ring:nodes=4", collective="allreduce").schedule))
    assert both.in_place
    assert both.out_of_place


def test_instances_have_channels_of_their_own() -> None:
    """Twice the chunks, threadblocks and channels."""
    program = compile_program(generate("torus:dims=3x3").schedule)
    one = to_msccl(program, MscclOptions(channels=2))
    two = to_msccl(program, MscclOptions(channels=2, instances=2))
    assert two.channels == 2 * one.channels
    assert two.chunks_per_loop == 2 * one.chunks_per_loop
    assert [len(gpu.threadblocks) for gpu in two.gpus] == [
        2 * len(gpu.threadblocks) for gpu in one.gpus
    ]


def test_limits_that_cannot_be_met_are_reported() -> None:
    """130 units, every other one first: each is a step by itself. On three channels it fits."""
    sends = [Send(0, 0, 0, 1, False, unit, 1) for unit in range(0, 130, 2)]
    sends += [Send(1, 0, 0, 1, False, unit, 1) for unit in range(1, 130, 2)]
    program = compile_program(by_hand(line(2), "broadcast", Chunks.equal([0], 130, 130), sends))
    message = r"needs 130 steps of a threadblock, and 64 are the most, with 1 channel \(tried: 1\)$"
    with pytest.raises(RuntimeLimitError, match=message):
        to_msccl(program, MscclOptions(channels=1))
    check(to_msccl(program))


def test_the_nearest_of_many_tries_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a ring of 4, on one channel: a threadblock for each way round, and one that copies."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    message = (
        r"it needs 3 threadblocks of a GPU, and 2 are the most, with 1 channel \(tried: 1, 2, 4, "
    )
    with pytest.raises(RuntimeLimitError, match=message):
        to_msccl(compile_program(generate("ring:nodes=4").schedule))
    each = r"with 1 channel for each instance \(tried: 1, 2, 4, 8\)$"
    with pytest.raises(RuntimeLimitError, match="it needs 12 threadblocks of a GPU.*" + each):
        to_msccl(compile_program(generate("ring:nodes=4").schedule), MscclOptions(instances=4))


def test_nothing_to_send_is_refused() -> None:
    with pytest.raises(ExportError, match="nothing moves"):
        to_msccl(compile_program(generate(network_of("alone", "", "alone")).schedule))


def test_options_are_written() -> None:
    options = MscclOptions(protocol="LL", min_bytes=1024, max_bytes=4096)
    found = to_msccl(compile_program(generate("ring:nodes=4").schedule), options)
    assert (found.protocol, found.min_bytes, found.max_bytes) == ("LL", 1024, 4096)


def test_the_same_program_is_the_same_file() -> None:
    program = compile_program(generate(load("dgx_a100:boxes=1"), collective="allreduce").schedule)
    again = compile_program(
        generate(load_topology("dgx_a100:boxes=1"), collective="allreduce").schedule
    )
    assert written_algorithm(to_msccl(program)) == written_algorithm(to_msccl(again))


PROGRAMS = [
    compile_program(generate("dgx_a100:boxes=2").schedule),
    compile_program(generate("mi250:boxes=1", collective="allreduce").schedule),
    compile_program(generate("torus:dims=3x3", collective="broadcast", root=4).schedule),
    compile_program(make("bruck", "allgather", "ring:nodes=7")),
]


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.topology.name)
@pytest.mark.parametrize("options", [MscclOptions(), MscclOptions(instances=2, in_place=True)])
@pytest.mark.each_value_once
def test_early_counts_equal_those_of_the_file(program: Program, options: MscclOptions) -> None:
    """Threadblocks and channels exactly, steps never above: so no try is given up that fits."""
    draft = Draft.of(program, options)
    for way, thrifty, channels in (
        (draft, False, 4),
        (draft, True, 3),
        (draft.unchained(), True, 1),
    ):
        queues = msccl_exporter.queues_of(way.pieces, way.chains, channels, thrifty)
        early = way._needs_of_blocks(queues)
        actions, scratch = way._actions(queues)
        later = way._needs_of_actions(actions, scratch)
        algorithm = way._written(queues, actions, scratch)
        blocks = [block for gpu in algorithm.gpus for block in gpu.threadblocks]
        steps = max(len(block.instructions) for block in blocks)
        assert early.channels == algorithm.channels
        assert early.threadblocks == max(len(gpu.threadblocks) for gpu in algorithm.gpus)
        assert early.steps <= later.steps <= steps
        assert later.chunks == max(gpu.scratch_chunks for gpu in algorithm.gpus)


def test_a_limit_ends_a_try_before_waits_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torus of 3 x 3 in 11 instances: 12 threadblocks each and more."""
    draft = Draft.of(
        compile_program(generate("torus:dims=3x3").schedule), MscclOptions(instances=11)
    )
    monkeypatch.setattr(msccl_exporter, "waits_of", None)
    found = draft.attempt(2, thrifty=False)
    assert isinstance(found, Excess)
    assert found.what == "threadblocks of a GPU"


@pytest.mark.slow
def test_the_reported_excess_is_that_of_the_whole_file() -> None:
    """Early 118 steps are known, by what the queue carries; in the file there are more."""
    draft = Draft.of(compile_program(generate("ring:nodes=4", k=8001).schedule), MscclOptions())
    early = draft.attempt(1, thrifty=False)
    assert isinstance(early, Excess)
    exact = draft.exact_excess(1, thrifty=False)
    assert exact is not None
    assert exact.what == early.what == "steps of a threadblock"
    queues = msccl_exporter.queues_of(draft.pieces, draft.chains, 1)
    assert exact == excess_of(draft._written(queues, *draft._actions(queues)))
    assert exact.needed >= early.needed > 64


def test_data_that_no_buffer_holds_is_known_before_any_try() -> None:
    """4 x 8209 chunks; two instances of 4 x 4099 are as many again."""
    many = Draft.of(compile_program(generate("ring:nodes=4", k=8209).schedule), MscclOptions())
    assert many.excess_of_data() == Excess("chunks in a buffer", 32836, 32768)
    half = compile_program(generate("ring:nodes=4", k=4099).schedule)
    assert Draft.of(half, MscclOptions()).excess_of_data() is None
    assert Draft.of(half, MscclOptions(instances=2)).excess_of_data() is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "simple"}, "the protocol is 'simple'; it must be one of Simple, LL, LL128"),
        ({"channels": 0}, "channels is 0; it must be 1 or more"),
        ({"instances": 33}, "instances 33 x channels 1 is more than the 32"),
        ({"min_bytes": 5, "max_bytes": 4}, "max_bytes is 4, less than min_bytes, 5"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        MscclOptions(**options)  # type: ignore[arg-type]
