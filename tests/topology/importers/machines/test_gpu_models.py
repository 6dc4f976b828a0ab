"""Kinds of GPUs by their models."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.importers.link_rates import RATES
from forestcoll.topology.importers.machines.gpu_models import LINKS, gpu_kind, kind_of_model


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("NVIDIA A100-SXM4-80GB", "sm_80"),
        ("Tesla V100-SXM2-16GB", "sm_70"),
        ("NVIDIA GH200 480GB", "sm_90"),
        ("NVIDIA H20", "sm_90"),
        ("NVIDIA GB200", "sm_100"),
        ("NVIDIA B300 SXM6 AC", "sm_103"),
        ("NVIDIA A40", "sm_86"),
        ("AMD Instinct MI355X", "gfx950"),
        ("AMD Instinct MI250X / MI250", "gfx90a"),
        ("NVIDIA H2000", None),
    ],
)
def test_a_model_has_its_kind(model: str, kind: str | None) -> None:
    assert kind_of_model(model) == kind


def test_every_kind_has_a_rate() -> None:
    for kind in LINKS:
        assert (f"xgmi.{kind}" if kind.startswith("gfx") else f"nvlink.{kind}") in RATES


def test_a_user_names_a_kind_or_a_model() -> None:
    assert gpu_kind("SM_90") == gpu_kind("h100") == "sm_90"
    with pytest.raises(
        InvalidParameterError, match=r"'sm_99' is not a kind of GPU; did you mean sm_90"
    ):
        gpu_kind("sm_99")
