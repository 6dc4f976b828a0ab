"""SCCL: ``sccl`` (the method), ``network`` (links in whole units of bandwidth), ``constraints``,
``pareto_frontier`` (its Algorithm 1).
"""

from baselines.synthesizers.sccl.pareto_frontier import Point, pareto
from baselines.synthesizers.sccl.sccl import COLLECTIVES, generate

__all__ = ["COLLECTIVES", "Point", "generate", "pareto"]
