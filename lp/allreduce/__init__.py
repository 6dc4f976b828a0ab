"""Allreduce programs as papers state them: oracles of the program that ``generate`` uses.

To read: ``reference`` (the program of ForestColl's appendix) and ``single_root`` (the optimum over
one root). The fast method is in :mod:`forestcoll.allreduce`.
"""
