"""Layers of published models; their times are modelled, not measured.

Problem: the bytes and the computing time of each layer of a model.
Input:   a model's dimensions; tokens of a GPU, its peak rate and the share of it that is reached.
Output:  layers for :mod:`experiments.training.parallelism`.
Cost:    linear in the layers.
Source:  dimensions as the models' own publications and configuration files give them: Gemma 2
         (2024), Llama 2 (2023), Llama 3 (2024), Fedus, Zoph and Shazeer, "Switch Transformers"
         (JMLR 2022). Tests compare the numbers of parameters with the published ones. A matrix of p
         parameters takes 2 p floating-point operations a token forwards and 4 p backwards (Kaplan
         et al., "Scaling Laws for Neural Language Models", 2020).

A measured table of layer times is always better: :mod:`experiments.training.layer_file`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from experiments.training.parallelism import Layer
from forestcoll.errors import InvalidParameterError

__all__ = ["A100_FLOPS", "MODELS", "Compute", "Transformer", "layers_of", "model_named"]

A100_FLOPS = 312e12
"""Peak of an A100 in BF16, per second (NVIDIA's data sheet)."""


@dataclass(frozen=True, slots=True)
class Transformer:
    """Dimensions of a transformer.

    Parameters
    ----------
    name : str
    layers : int
        Of a decoder; or of each of encoder and decoder.
    hidden, feed_forward, heads, kv_heads, head_size, vocabulary : int
    matrices : int
        Of a feed-forward layer: 3 if it is gated, else 2.
    tied : bool
        Whether input and output share the embedding.
    experts : int
        Feed-forward layers to choose from; 1 is none.
    sparse_every : int
        One layer of so many has experts.
    encoder : bool
        Whether there is an encoder; the decoder then also attends to it.
    """

    name: str
    layers: int
    hidden: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    matrices: int = 3
    tied: bool = False
    experts: int = 1
    sparse_every: int = 1
    encoder: bool = False

    @property
    def attention(self) -> int:
        """Parameters of an attention layer."""
        return 2 * self.hidden * self.head_size * (self.heads + self.kv_heads)

    @property
    def dense(self) -> int:
        """Parameters of one feed-forward layer."""
        return self.matrices * self.hidden * self.feed_forward

    @property
    def embeddings(self) -> int:
        """Parameters of the embeddings."""
        return (1 if self.tied else 2) * self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters, without norms and biases."""
        blocks = sum(
            self.attention * (2 if crossed else 1) + self.dense * (self.experts if sparse else 1)
            for crossed, sparse in self.blocks()
        )
        return blocks + self.embeddings

    def blocks(self) -> Iterator[tuple[bool, bool]]:
        """Yield for each block whether it attends to an encoder, and whether it has experts."""
        for crossed in (False, True) if self.encoder else (False,):
            for number in range(self.layers):
                sparse = self.experts > 1 and (number + 1) % self.sparse_every == 0
                yield crossed, sparse


MODELS = {
    one.name: one
    for one in (
        Transformer("gemma-2-2b", 26, 2304, 9216, 8, 4, 256, 256000, tied=True),
        Transformer("gemma-2-27b", 46, 4608, 36864, 32, 16, 128, 256000, tied=True),
        Transformer("llama-2-7b", 32, 4096, 11008, 32, 32, 128, 32000),
        Transformer("llama-2-70b", 80, 8192, 28672, 64, 8, 128, 32000),
        Transformer("llama-3-8b", 32, 4096, 14336, 32, 8, 128, 128256),
        # Llama 3 405B, cut to 36 of its 126 layers (ForestColl, section 6.4)
        Transformer("llama-3-119b", 36, 16384, 53248, 128, 8, 128, 128256),
        Transformer(
            *("switch-base-256", 12, 768, 3072, 12, 12, 64, 32128),
            *(2, True, 256, 2, True),
        ),
        Transformer("switch-c-2048", 15, 2080, 6144, 32, 32, 64, 32128, 2, True, 2048, 1, True),
    )
}
"""Models by name."""


@dataclass(frozen=True, slots=True)
class Compute:
    """What a GPU computes in an iteration, and how fast.

    Parameters
    ----------
    tokens : int
        Of one GPU.
    context : int
        Tokens of a sequence.
    flops : float
        Peak, per second.
    utilisation : float
        The share of the peak that is reached; an assumption.
    bytes_each : int
        Of a parameter, and of a gradient or an activation that is sent.
    recompute : bool
        Whether the backward pass computes the forward pass again, to save memory.
    """

    tokens: int
    context: int
    flops: float = A100_FLOPS
    utilisation: float = 0.5
    bytes_each: int = 2
    recompute: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        for name in ("tokens", "context", "flops", "bytes_each"):
            if not 0 < getattr(self, name) <= 1e18:
                raise InvalidParameterError(
                    f"{name} is {getattr(self, name)}; it must be above 0, and at most 1e18"
                )
        if not 0 < self.utilisation <= 1:
            raise InvalidParameterError(
                f"utilisation is {self.utilisation}; it must be above 0 and at most 1"
            )


def model_named(name: str) -> Transformer:
    """Return a model.

    Raises
    ------
    InvalidParameterError
        If it is unknown.
    """
    if name not in MODELS:
        raise InvalidParameterError(f"model is {name!r}; it must be one of {', '.join(MODELS)}")
    return MODELS[name]


def layers_of(model: Transformer, compute: Compute) -> list[Layer]:
    """Return the layers of a model with their modelled times.

    A block is one layer, but with experts it is two: only the second one is routed.
    """
    output = model.vocabulary * model.hidden
    layers = [_layer("embedding", output, 0, compute)]
    scores = 2 * compute.context * model.heads * model.head_size  # causal: half of all pairs
    for number, (crossed, sparse) in enumerate(model.blocks()):
        times = 2 if crossed else 1
        attention = model.attention * times
        operations = 2 * attention + scores * times
        if not sparse:
            whole = attention + model.dense
            layers.append(_layer(f"block {number}", whole, operations + 2 * model.dense, compute))
            continue
        layers.append(_layer(f"block {number} attention", attention, operations, compute))
        layers.append(_experts(f"block {number} experts", model, compute))
    layers.append(_layer("output", 0 if model.tied else output, 2 * output, compute))
    return layers


def _layer(name: str, parameters: int, operations: float, compute: Compute) -> Layer:
    """Make a layer; ``operations`` are those of one token forwards."""
    forward = operations * compute.tokens / (compute.flops * compute.utilisation)
    backward = (3 if compute.recompute else 2) * forward
    return Layer(name, forward, backward, parameters * compute.bytes_each)


def _experts(name: str, model: Transformer, compute: Compute) -> Layer:
    """Make a layer of experts: each token passes one of them, and tokens are evenly spread."""
    one = _layer(name, 0, 2 * model.dense, compute)
    routed = compute.tokens * model.hidden * compute.bytes_each
    return Layer(name, one.forward_s, one.backward_s, model.dense * compute.bytes_each, routed)
