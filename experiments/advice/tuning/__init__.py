"""Simulated search for the best schedule at each size, among forests and baselines.

Read ``recipe`` (the search space), ``exchanges`` (that of all-to-alls), ``shallow_forests``
(depth-bounded forests), ``sized_forests`` (forests over time), ``candidates`` (schedules made,
verified and compiled, or the reason why not), ``schedule_search`` (the best at one size),
``switching`` (sizes at which the best changes), ``tuning`` (the whole search), ``records`` (its
results as a document and as files), ``cli`` (the command).
"""

from experiments.advice.tuning.candidates import Candidate
from experiments.advice.tuning.recipe import Recipe, recipes
from experiments.advice.tuning.schedule_search import AtSize, Trial
from experiments.advice.tuning.switching import Range
from experiments.advice.tuning.tuning import Bounds, Tuning, tune

__all__ = ["AtSize", "Bounds", "Candidate", "Range", "Recipe", "Trial", "Tuning", "recipes", "tune"]
