"""Symmetries of networks, which make linear programs and searches smaller.

To read: ``line_roots`` (line graphs), ``automorphism_search`` (one automorphism), ``automorphism``
(orbits of nodes and links), ``stabilizer`` (symmetries that fix a GPU), ``parallel_planes``
(switches merged into one).
"""
