"""Published models: their parameters, and the times that are modelled."""

from __future__ import annotations

import pytest

from experiments.training.known_models import MODELS, Compute, layers_of, model_named
from forestcoll.errors import InvalidParameterError

PUBLISHED = {
    "gemma-2-2b": 2.61e9,
    "gemma-2-27b": 27.2e9,
    "llama-2-7b": 6.74e9,
    "llama-2-70b": 69.0e9,
    "llama-3-8b": 8.03e9,
    "llama-3-119b": 119e9,
    "switch-base-256": 14.7e9,
    "switch-c-2048": 1571e9,
}
"""Numbers of parameters."""


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_as_many_as_published(name: str) -> None:
    assert MODELS[name].parameters == pytest.approx(PUBLISHED[name], rel=0.004)


@pytest.mark.parametrize("name", MODELS)
def test_layers_have_all_parameters_of_the_model(name: str) -> None:
    """Experts count once: a GPU has one of them, and none is exchanged."""
    model = MODELS[name]
    layers = layers_of(model, Compute(1024, 512))
    sparse = sum(sparse for _, sparse in model.blocks())
    others = sparse * (model.experts - 1) * model.dense
    assert sum(layer.parameter_bytes for layer in layers) == 2 * (model.parameters - others)
    assert sum(layer.routed_bytes > 0 for layer in layers) == sparse
    assert len({layer.name for layer in layers}) == len(layers)


def test_a_dense_model_takes_two_operations_a_parameter_and_token() -> None:
    model, compute = MODELS["llama-3-8b"], Compute(4096, 1)
    forward = sum(layer.forward_s for layer in layers_of(model, compute))
    matrices = model.parameters - model.vocabulary * model.hidden  # the input is a look-up
    expected = 2 * matrices * 4096 / (312e12 * 0.5)
    assert forward == pytest.approx(expected, rel=1e-4)


def test_backward_takes_twice_as_long_or_three_times() -> None:
    for recompute, times in ((False, 2), (True, 3)):
        for layer in layers_of(MODELS["gemma-2-2b"], Compute(64, 64, recompute=recompute)):
            assert layer.backward_s == pytest.approx(times * layer.forward_s)


def test_longer_contexts_cost_more_attention() -> None:
    short, long = (
        sum(layer.forward_s for layer in layers_of(MODELS["llama-2-7b"], Compute(2048, context)))
        for context in (128, 2048)
    )
    model = MODELS["llama-2-7b"]
    more = 2 * (2048 - 128) * model.heads * model.head_size * model.layers * 2048
    assert long - short == pytest.approx(more / (312e12 * 0.5))


def test_a_decoder_with_an_encoder_attends_twice() -> None:
    model = MODELS["switch-base-256"]
    short, long = (
        sum(layer.forward_s for layer in layers_of(model, Compute(2048, context)))
        for context in (128, 2048)
    )
    each = 2 * (2048 - 128) * model.heads * model.head_size * 2048
    assert long - short == pytest.approx(each * 3 * model.layers / (312e12 * 0.5))


def test_every_other_layer_has_experts_the_second_one_first() -> None:
    sparse = [sparse for _, sparse in MODELS["switch-base-256"].blocks()]
    assert sparse == [False, True] * 12
    assert all(sparse for _, sparse in MODELS["switch-c-2048"].blocks())


def test_a_token_passes_one_expert() -> None:
    """Two matrices of 768 x 3072, two operations a parameter and token."""
    experts = next(
        layer
        for layer in layers_of(MODELS["switch-base-256"], Compute(1024, 512))
        if layer.routed_bytes
    )
    forward = 2 * (2 * 768 * 3072) * 1024 / (312e12 * 0.5)
    assert experts.forward_s == pytest.approx(forward)
    assert experts.backward_s == pytest.approx(2 * forward)
    assert experts.parameter_bytes == 2 * 768 * 3072 * 2


def test_routed_bytes_are_those_of_the_tokens() -> None:
    model = MODELS["switch-base-256"]
    routed = {layer.routed_bytes for layer in layers_of(model, Compute(4096, 512))}
    assert routed == {0, 4096 * 768 * 2}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tokens": 0}, "tokens is 0"),
        ({"context": -1}, "context is -1"),
        ({"flops": 0.0}, "flops is 0.0"),
        ({"flops": float("nan")}, "flops is nan"),
        ({"bytes_each": 0}, "bytes_each is 0"),
        ({"utilisation": 0.0}, "utilisation is 0.0"),
        ({"utilisation": 1.1}, "utilisation is 1.1"),
    ],
)
def test_wrong_numbers_are_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Compute(**{"tokens": 1, "context": 1, **given})


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="model is 'gpt-9'; it must be one of gemma"):
        model_named("gpt-9")
