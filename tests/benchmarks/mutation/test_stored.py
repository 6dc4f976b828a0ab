"""Stored runs, and their scores by hand."""

from pathlib import Path

import pytest

from benchmarks.mutation.stored import Run, Score, Tried, load_reasons, load_run, merged, save_run

ROWS = (
    Tried("a.py", "f: 1 -> 2 #0", "constant", 3, "killed", "test_a.py::test_f"),
    Tried("a.py", "f: 2 -> 3 #0", "constant", 4, "timeout"),
    Tried("a.py", "f: 3 -> 4 #0", "constant", 5, "survived"),
    Tried("a.py", "f: 4 -> 5 #0", "constant", 6, "unreached"),
    Tried("b.py", "g: 1 -> 2 #0", "constant", 3, "survived"),
)
RUN = Run("toy", 1, 40, {"a.py": 9, "b.py": 1}, ROWS)
REASONS = {"a.py": {"f: 3 -> 4 #0": "any limit will do", "f: 1 -> 2 #0": "wrong: it is killed"}}


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    save_run(tmp_path / "new" / "run.json", RUN)
    assert load_run(tmp_path / "new" / "run.json") == RUN


def test_scores_leave_out_equivalent_survivors() -> None:
    """Of 4 mutants tried 2 are killed and 1 of the others is equivalent: 2 of 3."""
    score = RUN.score("a.py", REASONS)
    assert score == Score(made=9, tried=4, equivalent=1, killed=2)
    assert round(score.percent, 2) == 66.67
    both = Score.total([score, RUN.score("b.py", REASONS)])
    assert both == Score(made=10, tried=5, equivalent=1, killed=2)
    assert both.percent == 50
    assert Score().percent == 100


def test_survivors_are_those_without_a_reason() -> None:
    assert [one.name for one in RUN.survivors(REASONS)] == ["f: 4 -> 5 #0", "g: 1 -> 2 #0"]


def test_the_later_of_two_runs_counts() -> None:
    """A survivor killed since, and a mutant of a module that the first run did not have."""
    killed = Tried("b.py", "g: 1 -> 2 #0", "constant", 3, "killed", "test_b.py::test_g")
    other = Tried("c.py", "h: 1 -> 2 #0", "constant", 1, "survived")
    later = Run("toy", 2, 9, {"b.py": 1, "c.py": 5}, (killed, other))
    both = merged([RUN, later])
    assert both.made == {"a.py": 9, "b.py": 1, "c.py": 5}
    assert both.tried == (*ROWS[:-1], killed, other)
    with pytest.raises(ValueError, match="one area"):
        merged([RUN, Run("other", 1, 1, {}, ())])


def test_every_reason_says_something() -> None:
    for module, named in load_reasons().items():
        assert Path(module).suffix in (".py", ".cpp")
        assert all(why.strip() for why in named.values())
