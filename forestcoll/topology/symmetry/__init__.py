"""Symmetries of networks, by which programs shrink.

To read: ``automorphism`` (find them; orbits of nodes and links), ``stabilizer`` (those that leave a
GPU in place), ``parallel_planes`` (switches merged into one).
"""
