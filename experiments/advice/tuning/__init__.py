"""Simulated search for the best schedule at each size, among forests and baselines.

Read ``recipe`` (the search space), ``exchanges`` (that of all-to-alls), ``shallow_forests``
(depth-bounded forests), ``sized_forests`` (forests over time), ``candidates`` (schedules made,
verified and compiled, or the reason why not), ``schedule_search`` (the best at one size),
``switching`` (sizes at which the best changes), ``tuning`` (the whole search), ``records`` (its
results as a document and as files), ``cli`` (the command).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.lazy_loading import attach

if TYPE_CHECKING:
    from experiments.advice.tuning.candidates import Candidate
    from experiments.advice.tuning.recipe import Recipe, recipes
    from experiments.advice.tuning.schedule_search import AtSize, Trial
    from experiments.advice.tuning.switching import Range
    from experiments.advice.tuning.tuning import Bounds, Tuning, tune

__all__ = ["AtSize", "Bounds", "Candidate", "Range", "Recipe", "Trial", "Tuning", "recipes", "tune"]

# Loaded when first asked for: the command's options need none of it, and it loads scipy.
__getattr__, __dir__ = attach(
    __name__,
    {
        "AtSize": f"{__name__}.schedule_search",
        "Bounds": f"{__name__}.tuning",
        "Candidate": f"{__name__}.candidates",
        "Range": f"{__name__}.switching",
        "Recipe": f"{__name__}.recipe",
        "Trial": f"{__name__}.schedule_search",
        "Tuning": f"{__name__}.tuning",
        "recipes": f"{__name__}.recipe",
        "tune": f"{__name__}.tuning",
    },
)
