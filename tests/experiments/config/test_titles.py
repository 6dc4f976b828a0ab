"""Titles of the experiments of the toolkit."""

from experiments.config.titles import title_of


def test_an_experiment_of_the_toolkit_is_called_as_its_file_says() -> None:
    """Whatever folder it is in; an experiment of one's own has no title there."""
    assert title_of("bfb-table7") == "Few steps or little time, degree 4 (BFB paper, table 7)"
    assert title_of("mine") == ""
    assert title_of("bfb-table") == ""
