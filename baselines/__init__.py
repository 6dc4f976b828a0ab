"""The peers ForestColl is compared with, reimplemented on the same types."""

from baselines.method import Method
from baselines.registry import METHODS

__all__ = ["METHODS", "Method"]
