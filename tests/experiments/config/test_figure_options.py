"""What is to be drawn, in a word: a kind of figure with its options."""

import pytest

from experiments.config.figure_options import Figure, check_figure, check_one_size, parse_figure
from forestcoll.errors import InvalidExperimentError


def test_options_that_are_not_given_have_their_defaults() -> None:
    """Spaces around them do not matter; the kind comes before the colon."""
    assert parse_figure("pareto").options == {"x": "algbw_gb_s", "y": "generation_s"}
    figure = parse_figure("pareto: y = depth, x=k")
    assert (figure.kind, figure.options) == ("pareto", {"x": "k", "y": "depth"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "generation-tim",
            "unknown kind of figure 'generation-tim'; did you mean \"generation-time\"?",
        ),
        ("y=k", "unknown kind of figure 'y=k'; a comma in a YAML list needs quotes"),
        ("lines:y=depht", "lines: y cannot be 'depht'; did you mean \"depth\"?"),
        ("lines:y", "lines: y cannot be ''; "),
        ("lines:z=depth", "lines: unknown option 'z'; known: y"),
        ("generation-time:y=k", "generation-time: unknown option 'y'; it takes none"),
        ("lines-by-size:x=gpus", "lines-by-size: unknown option 'x'; known: y"),
        ("pareto:x=depth,y=depth", "pareto: x and y are both 'depth'; change one"),
    ],
)
def test_invalid_figures_are_refused_with_the_allowed_values(text: str, message: str) -> None:
    with pytest.raises(InvalidExperimentError) as caught:
        parse_figure(text)
    assert str(caught.value).startswith(message)


def test_a_figure_is_sized_if_sizes_are_along_a_side() -> None:
    assert parse_figure("lines-by-size").sized
    assert parse_figure("heat-map:x=size_bytes,value=time_pipelined_s").sized
    assert not parse_figure("heat-map").sized
    assert not parse_figure("lines-by-parameter:x=size_bytes").sized
    assert parse_figure("lines-by-parameter:x=size_bytes,y=time_pipelined_s").sized


def test_size_dependent_measures_need_a_size_axis_or_one_size() -> None:
    figure = parse_figure("lines:y=time_pipelined_s")
    assert figure.of_one_size == "time_pipelined_s"
    assert parse_figure("lines-by-size").of_one_size == parse_figure("lines").of_one_size == ""
    check_figure(figure, (), series=1, sizes=1)
    check_one_size(parse_figure("lines"), 2)
    for sizes in (0, 2):
        with pytest.raises(InvalidExperimentError) as caught:
            check_figure(figure, (), series=1, sizes=sizes)
        assert str(caught.value) == (
            "lines: time_pipelined_s depends on the size of the data; take "
            "lines-by-size:y=time_pipelined_s, or a single size"
        )


def test_a_figure_knows_whether_it_is_simulated() -> None:
    assert parse_figure("lines-by-size:y=algbw_simulated_gb_s").simulated
    assert not parse_figure("lines-by-size").simulated


def test_sides_are_parameters_of_the_experiment() -> None:
    """Whatever side is asked for is taken until one knows what there is."""
    figure = parse_figure("heat-map:x=node")
    check_figure(figure, {"node"}, series=2)
    with pytest.raises(InvalidExperimentError) as caught:
        check_figure(figure, {"nodes"}, series=2)
    assert str(caught.value).startswith(
        "heat-map: x cannot be 'node', which is not a parameter here; did you mean \"nodes\"?"
    )
    check_figure(parse_figure("lines-by-parameter:x=unit"), {"unit"}, series=1)
    with pytest.raises(InvalidExperimentError, match="x cannot be 'gpu', which is not a parameter"):
        check_figure(parse_figure("lines-by-parameter:x=gpu"), {"unit"}, series=1)


def test_a_front_needs_two_methods_and_a_figure_by_size_needs_sizes() -> None:
    with pytest.raises(InvalidExperimentError, match="pareto: there is only one method; add ano"):
        check_figure(parse_figure("pareto"), (), series=1)
    check_figure(parse_figure("pareto"), (), series=2)
    with pytest.raises(InvalidExperimentError, match=r"no sizes of the data; add some, such as"):
        check_figure(parse_figure("lines-by-size"), (), series=2, sizes=0)
    check_figure(parse_figure("lines-by-size"), (), series=2)


def test_a_function_is_a_kind_without_options() -> None:
    """Names of kinds come first, so an option without a value stays a mistake."""
    assert parse_figure("my.figures:depths") == Figure("my.figures:depths", {})
    assert not parse_figure("my.figures:depths").sized
    with pytest.raises(InvalidExperimentError, match="unknown option 'depth'"):
        parse_figure("lines:depth")
    with pytest.raises(InvalidExperimentError, match="unknown kind"):
        parse_figure("my.figures:y=depth")
