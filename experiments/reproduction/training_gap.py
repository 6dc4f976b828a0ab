"""Assumptions with which the model of training has the printed share of communication.

Problem: with the assumptions of figure 13 (ForestColl), large models compute more of the time than
         printed; which utilisation, or which slower collectives, would the printed share need.
Input:   the printed shares; rates of NCCL's rings in the rows of figure 11.
Output:  for each model with an exact printed share, the values that give this share, the other
         assumptions being equal.
Cost:    some forty timelines a model.
Source:  none. Visible communication grows with the utilisation and with the times of collectives,
         so each value is found by bisection.

``python -m experiments.reproduction.training_gap`` draws all models of figure 13 in one picture,
results/forestcoll/figure13.png.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from experiments.published import TrainingShare, training_shares
from experiments.reproduction.training import algbw_at
from experiments.results.rows import Row
from experiments.training.iteration import Iteration, iteration
from experiments.training.known_models import Compute, layers_of, model_named
from experiments.training.parallelism import SecondsOf

__all__ = ["EXPERIMENTS", "Gap", "gaps"]

EXPERIMENTS = ("forestcoll-figure13-llama", "forestcoll-figure13-gemma")

_RATES = {
    "allgather": "forestcoll-figure11-allgather",
    "reduce-scatter": "forestcoll-figure11-reduce-scatter",
}
_CONTEXT = {"gemma": 2048, "llama": 1024}
"""Tokens of a sequence, as printed; each GPU has one sequence, which communicates the most."""

_STEPS = 50
_MOST = 1e4


@dataclass(frozen=True, slots=True)
class Gap:
    """What one model would need.

    Parameters
    ----------
    model : str
    visible, printed_saving : float
        The printed shares of visible communication and of saved time.
    utilisation : dict of float
        The share of the peak that is needed, by the bytes of a parameter as sent; above 1 no GPU
        reaches it.
    slowdown : dict of float
        How many times as long rings must take, by utilisation; parameters have 2 bytes.
    saved : float
        What ForestColl then saves of the iteration, at the utilisation with 4 bytes.
    """

    model: str
    visible: float
    printed_saving: float
    utilisation: dict[int, float]
    slowdown: dict[float, float]
    saved: float


def gaps(rows: Mapping[str, Sequence[Row]]) -> list[Gap]:
    """Return what each model with an exact printed share needs; empty without rows."""
    if not all(rows.get(name) for name in _RATES.values()):
        return []

    rings, ours = (_simulated(rows, method) for method in ("ring", "forestcoll"))
    return [
        _gap(one, _CONTEXT[one.model.partition("-")[0]], rings, ours)
        for one in training_shares()
        if one.exact
    ]


def _simulated(rows: Mapping[str, Sequence[Row]], method: str) -> SecondsOf:
    """Return the seconds of a method's collectives, from its algbw at the sizes of figure 11."""

    def seconds_of(collective: str, size: int) -> float:
        return size / algbw_at(rows[_RATES[collective]], method, size) / 1e9 if size else 0.0

    return seconds_of


def _gap(one: TrainingShare, tokens: int, rings: SecondsOf, ours: SecondsOf) -> Gap:
    model, visible = one.model, one.visible

    def share(utilisation: float, bytes_each: int, slower: float = 1.0) -> float:
        made = _iteration(model, tokens, utilisation, bytes_each, rings, slower)
        return made.visible_share

    utilisation = {each: _root(partial(_swapped, share, each), visible) for each in (2, 4)}
    slowdown = {used: _root(partial(share, used, 2), visible) for used in (0.4, 0.6)}
    before, after = (
        _iteration(model, tokens, utilisation[4], 4, method).timeline.seconds
        for method in (rings, ours)
    )
    return Gap(model, visible, one.saved, utilisation, slowdown, 1 - after / before)


def _swapped(share: Callable[[float, int], float], bytes_each: int, utilisation: float) -> float:
    return share(utilisation, bytes_each)


def _iteration(
    model: str,
    tokens: int,
    utilisation: float,
    bytes_each: int,
    seconds_of: SecondsOf,
    slower: float = 1.0,
) -> Iteration:
    """Model an iteration whose collectives take ``slower`` times as long.

    A utilisation above 1 shows that an assumption is out of reach.
    """
    compute = Compute(tokens, tokens, utilisation=1.0, bytes_each=bytes_each)
    layers = [
        replace(one, forward_s=one.forward_s / utilisation, backward_s=one.backward_s / utilisation)
        for one in layers_of(model_named(model), compute)
    ]
    return iteration(layers, "sharded", lambda name, size: slower * seconds_of(name, size))


def _root(share: Callable[[float], float], wanted: float) -> float:
    """Return where a growing function has a value."""
    low, high = 0.0, _MOST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < wanted else (low, middle)
    return high


def _draw(root: Path) -> Path:
    from experiments.figures.matplotlib_renderer import save
    from experiments.figures.training_shares import training_shares as figure
    from experiments.results.rows import read_rows

    rows = [
        row for name in EXPERIMENTS for row in read_rows(root / "results" / name / "rows.jsonl")
    ]
    output = root / "results" / "forestcoll" / "figure13.png"
    output.parent.mkdir(exist_ok=True)
    save(figure(rows), output)
    return output


if __name__ == "__main__":
    print(f"wrote {_draw(Path())}")
