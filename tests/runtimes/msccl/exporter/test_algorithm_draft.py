"""What a try with some channels comes to, and how soon."""

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.excess import Excess
from forestcoll.runtimes.msccl.exporter import algorithm_draft
from forestcoll.runtimes.msccl.exporter.algorithm_draft import Draft
from forestcoll.runtimes.msccl.exporter.executor_limits import excess_of
from forestcoll.runtimes.msccl.exporter.export_options import MscclOptions
from forestcoll.schedule.program import Program
from tests.baselines.claims import make

CASES = [
    compile_program(generate("dgx_a100:boxes=2").schedule),
    compile_program(generate("mi250:boxes=1", collective="allreduce").schedule),
    compile_program(generate("torus:dims=3x3", collective="broadcast", root=4).schedule),
    compile_program(make("bruck", "allgather", "ring:nodes=7")),
]


@pytest.mark.parametrize("program", CASES, ids=lambda program: program.topology.name)
@pytest.mark.parametrize("options", [MscclOptions(), MscclOptions(instances=2, in_place=True)])
def test_what_is_counted_early_is_what_is_written(program: Program, options: MscclOptions) -> None:
    """Threadblocks and channels exactly, steps never above: so no try is given up that fits."""
    draft = Draft.of(program, options)
    for way, thrifty, channels in (
        (draft, False, 4),
        (draft, True, 3),
        (draft.unchained(), True, 1),
    ):
        queues = algorithm_draft.queues_of(way.pieces, way.chains, channels, thrifty)
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
    monkeypatch.setattr(algorithm_draft, "waits_of", None)
    found = draft.attempt(2, thrifty=False)
    assert isinstance(found, Excess)
    assert found.what == "threadblocks of a GPU"


def test_the_excess_that_is_reported_is_that_of_the_whole_file() -> None:
    """Early 118 steps are known, by what the queue carries; in the file there are more."""
    draft = Draft.of(compile_program(generate("ring:nodes=4", k=8001).schedule), MscclOptions())
    early = draft.attempt(1, thrifty=False)
    assert isinstance(early, Excess)
    exact = draft.exact_excess(1, thrifty=False)
    assert exact is not None
    assert exact.what == early.what == "steps of a threadblock"
    queues = algorithm_draft.queues_of(draft.pieces, draft.chains, 1)
    assert exact == excess_of(draft._written(queues, *draft._actions(queues)))
    assert exact.needed >= early.needed > 64


def test_data_that_no_buffer_holds_is_known_before_any_try() -> None:
    """4 x 8209 chunks; two instances of 4 x 4099 are as many again."""
    many = Draft.of(compile_program(generate("ring:nodes=4", k=8209).schedule), MscclOptions())
    assert many.excess_of_data() == Excess("chunks in a buffer", 32836, 32768)
    half = compile_program(generate("ring:nodes=4", k=4099).schedule)
    assert Draft.of(half, MscclOptions()).excess_of_data() is None
    assert Draft.of(half, MscclOptions(instances=2)).excess_of_data() is not None
