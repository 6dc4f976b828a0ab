"""TE-CCL's integer program (milp) for whole chunks, which may be copied.

To read: ``epoch_program`` (the rows for a number of epochs), ``solvers``, ``greedy`` (a first
solution), ``horizon`` (the fewest epochs), ``reward`` (the paper's objective), ``epoch_count``
(a sufficient number of epochs).
"""
