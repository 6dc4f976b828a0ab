"""Allreduces whose phases share time slots.

To read: ``allreduce_in_slots`` (the allreduce of a size), ``common_program`` (trees in use in both
phases, by a linear program), ``paired_trees`` (which gathering tree follows which reduction tree),
``common_times`` (exact times).
"""
