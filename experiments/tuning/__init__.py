"""Simulated search for the best schedule at each size, among forests and baselines.

To read: ``recipe`` (what is tried), ``shallow_forests`` (within tree_depths), ``candidates`` (made,
verified, lowered, or why not), ``schedule_search`` (who is best at one size), ``switching``
(between which sizes the best one changes), ``tuning`` (all of it), ``records`` (the same as a
document, and as files in a folder), ``cli`` (the command).
"""

from experiments.tuning.candidates import Candidate
from experiments.tuning.recipe import Recipe, recipes
from experiments.tuning.schedule_search import AtSize, Trial
from experiments.tuning.switching import Range
from experiments.tuning.tuning import Bounds, Tuning, tune

__all__ = ["AtSize", "Bounds", "Candidate", "Range", "Recipe", "Trial", "Tuning", "recipes", "tune"]
