"""Breadth-first broadcasts (BFB) on networks without switches.

To read: ``bfb`` (the method), ``broadcast_network`` (what it looks at), ``breadth_first`` (loads
and transfers, natively), ``alike`` (one node solved for all that are like it), ``node_program``
(the same loads by linear programs), ``theory`` (bounds and tests); schedules out of schedules:
``reverse_symmetry``, ``expansions``, by the names of networks ``construction``; what is not breadth
first: ``optimal_search``, ``found``.
"""
