"""The table of formats."""

from fractions import Fraction

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.formats import FORMATS, asked_of, export, format_of, options_of
from forestcoll.runtimes.msccl import written_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions, to_msccl
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.simulators.goal import GoalOptions

PROGRAM = compile_program(generate("ring:nodes=4", collective="allreduce").schedule)


def test_msccl_is_its_xml() -> None:
    """With the facts of the largest GPU."""
    found = export(PROGRAM, MscclOptions(channels=2, instances=2))
    algorithm = to_msccl(PROGRAM, MscclOptions(channels=2, instances=2))
    assert found.text == written_algorithm(algorithm)
    assert found.facts["channels"] == algorithm.channels
    assert found.facts["threadblocks"] == max(len(gpu.threadblocks) for gpu in algorithm.gpus)


@pytest.mark.parametrize(("boxes", "crossed"), [(1, False), (2, True)])
def test_a_plan_counts_channels_between_boxes(boxes: int, crossed: bool) -> None:
    """They need NVLink there, or memory that reaches as far."""
    program = compile_program(generate(f"dgx_h100:boxes={boxes}").schedule)
    found = export(program, MscclppOptions(between_boxes="memory"))
    assert (found.facts["channels_between_boxes"] > 0) == crossed
    found = export(program, MscclppOptions())
    assert found.facts["channels_between_boxes"] == 0
    assert (found.facts["port_channels"] > 0) == crossed


def test_unknown_formats_and_options_are_reported_with_those_there_are() -> None:
    with pytest.raises(InvalidParameterError, match="no format 'xml'; formats are msccl"):
        options_of("xml", {})
    with pytest.raises(InvalidParameterError, match="'goal' is not options of a format; give one"):
        export(PROGRAM, "goal")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="msccl has no option depth; it has protocol"):
        options_of("msccl", {"depth": 3})


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_summary_and_exports(name: str) -> None:
    assert FORMATS[name].summary
    options = options_of(name, {})
    assert format_of(options) == name
    assert asked_of(options) == {}
    assert export(PROGRAM, options).text


def test_relaxed_msccl_options_need_ever_less() -> None:
    """Channels as they come, then fewer instances, and at last no copies."""
    asked = MscclOptions(channels=2, instances=3, protocol="LL")
    gather = compile_program(generate("ring:nodes=4").schedule)
    found = [(shown, asked_of(one)) for shown, one in FORMATS["msccl"].relaxed(gather, asked)]
    assert found == [
        ("channels left open", {"instances": 3, "protocol": "LL"}),
        ("2 instances", {"instances": 2, "protocol": "LL"}),
        ("1 instance", {"protocol": "LL"}),
        ("calls in place only", {"protocol": "LL", "in_place": True}),
    ]
    assert list(FORMATS["msccl"].relaxed(PROGRAM, MscclOptions())) == []
    assert list(FORMATS["goal"].relaxed(PROGRAM, GoalOptions(size_bytes=4))) == []


def test_options_by_name_are_those_of_the_format() -> None:
    """What is None is not given; what is wrong is refused as by the options themselves."""
    assert options_of("msccl", {"protocol": "LL", "channels": None}) == MscclOptions(protocol="LL")
    assert options_of("goal", {"size_bytes": 9}) == GoalOptions(size_bytes=9)
    with pytest.raises(InvalidParameterError, match="instances is 0; it must be 1 or more"):
        options_of("mscclpp", {"instances": 0})


def test_goal_has_its_size_and_the_cost_of_sums() -> None:
    """4 GPUs; a cost of 0 is left out."""
    facts = export(PROGRAM, GoalOptions(size_bytes=64)).facts
    assert (facts["size_bytes"], facts["ranks"], "gamma_s_per_gb" in facts) == (64, 4, False)
    assert export(PROGRAM, GoalOptions(64, Fraction(1, 2))).facts["gamma_s_per_gb"] == Fraction(
        1, 2
    )
