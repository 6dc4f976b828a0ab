"""Breadth-first broadcasts (BFB) on networks without switches.

Read ``bfb`` (the method), ``broadcast_network`` (its input), ``breadth_first`` (native loads and
transfers), ``alike`` (orbits of nodes), ``node_program`` (the same loads by linear programs),
``theory`` (bounds and tests). Derived schedules: ``reverse_symmetry``, ``expansions``, and
``construction`` by the names of networks. Not breadth first: ``optimal_search``.
"""
