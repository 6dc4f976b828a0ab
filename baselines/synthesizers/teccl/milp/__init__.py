"""Whole chunks, which may be copied: programs with variables that are 0 or 1.

To read: ``epoch_program`` (the rows for a number of epochs), ``solvers``, ``greedy`` (a first
solution), ``horizon`` (the fewest epochs), ``reward`` (the paper's objective), ``epoch_count``
(epochs that will do).
"""
