"""The peers ForestColl is compared with, reimplemented on the same types."""

from baselines.interface.method import Method
from baselines.registry import METHODS

__all__ = ["METHODS", "Method"]
