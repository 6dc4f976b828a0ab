"""Baselines from the literature, reimplemented on the types of ForestColl."""

from baselines.interface.method import Method
from baselines.registry import METHODS

__all__ = ["METHODS", "Method"]
