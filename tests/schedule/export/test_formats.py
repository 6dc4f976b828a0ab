"""The table of formats."""

import pytest

from forestcoll import generate, lower
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.export import FORMATS, MscclOptions, export, to_msccl
from forestcoll.schedule.msccl import written_algorithm

PROGRAM = lower(generate("ring:nodes=4", collective="allreduce"))


def test_msccl_is_its_xml() -> None:
    """With the facts of the largest GPU."""
    found = export(PROGRAM, "msccl", {"channels": 2, "instances": 2})
    algorithm = to_msccl(PROGRAM, MscclOptions(channels=2, instances=2))
    assert found.text == written_algorithm(algorithm)
    assert found.facts["channels"] == algorithm.channels
    assert found.facts["threadblocks"] == max(len(gpu.threadblocks) for gpu in algorithm.gpus)


@pytest.mark.parametrize(("boxes", "crossed"), [(1, False), (2, True)])
def test_a_plan_tells_of_channels_between_boxes(boxes: int, crossed: bool) -> None:
    """They need NVLink there, or memory that reaches as far."""
    found = export(lower(generate(f"dgx_h100:boxes={boxes}")), "mscclpp")
    assert (found.facts["channels_between_boxes"] > 0) == crossed


def test_unknown_formats_and_options_are_told_with_those_there_are() -> None:
    with pytest.raises(InvalidParameterError, match="no format 'xml'; formats are msccl"):
        export(PROGRAM, "xml")
    with pytest.raises(InvalidParameterError, match="msccl has no option depth; it has protocol"):
        export(PROGRAM, "msccl", {"depth": 3})


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_what_it_is(name: str) -> None:
    assert FORMATS[name].summary
    assert export(PROGRAM, name).text


def test_what_msccl_may_be_relaxed_to_needs_ever_less() -> None:
    """Channels as they come, then fewer instances, and at last no copies."""
    asked = {"channels": 2, "instances": 3, "protocol": "LL"}
    gather = lower(generate("ring:nodes=4"))
    assert list(FORMATS["msccl"].relaxed(gather, asked)) == [
        ("channels left open", {"instances": 3, "protocol": "LL"}),
        ("2 instances", {"instances": 2, "protocol": "LL"}),
        ("1 instance", {"instances": 1, "protocol": "LL"}),
        ("calls in place only", {"instances": 1, "protocol": "LL", "in_place": True}),
    ]
    assert list(FORMATS["msccl"].relaxed(PROGRAM, {})) == []
    assert list(FORMATS["goal"].relaxed(PROGRAM, {"size_bytes": 4})) == []
