"""The peers ForestColl is compared with, reimplemented on the same types."""

from baselines.registry import METHODS, Method

__all__ = ["METHODS", "Method"]
