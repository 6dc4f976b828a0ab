"""Operations put together."""

from forestcoll import compile_program
from tests.baselines.claims import make
from tests.runtimes.msccl.exporter.drafts import (
    Draft,
    down_a_line,
    there_and_back,
    up_a_line,
)


def kinds(draft: Draft) -> list[str]:
    return [action.kind for action in draft.actions()]


def test_forwarding_is_one_step() -> None:
    """With the root's copy of its own; a sum that nobody else reads is not written."""
    assert kinds(down_a_line()) == ["s", "rcs", "r", "cpy"]
    assert kinds(up_a_line()) == ["s", "rrs", "rrc"]


def test_returning_data_is_not_forwarded_in_one_step() -> None:
    """Else the sender waits for room, whom it would send to waits for the sender: a circle.

    Whoever passes on works chunk by chunk, and what comes back may not overwrite what is yet to be
    read.
    """
    assert kinds(there_and_back(3)) == ["s", "rrc", "s", "r"]


def test_steps_move_less_than_72_chunks() -> None:
    """150 are three times 50; the root's own copy, too."""
    actions = Draft.actions(down_a_line(1)), down_a_line(150).actions()
    assert {action.count for action in actions[0]} == {1}
    assert len(actions[1]) <= 3 * len(actions[0])


def test_neighbours_in_the_data_that_go_one_way_are_one_step() -> None:
    """Recursive doubling sends 1, 2, 4 and 8 shards of sixteen: 15 in fewer steps."""
    schedule = make("recursive-halving-doubling", "allgather", "hypercube:dimension=4")
    actions = Draft.of(compile_program(schedule)).actions()
    sent = [each.count for each in actions if each.gpu == 0 and each.kind in ("s", "rcs")]
    assert sum(sent) == 15
    assert len(sent) < 15
