"""TE-CCL: schedules in epochs by integer programming.

To read: ``epochs`` (a topology in epochs), ``commodities`` (chunks and who wants them),
``epoch_program`` (the rows for a number of epochs), ``solvers``, ``greedy`` (a first
solution), ``horizon`` (the fewest epochs),
``cleaning``, ``conversion`` (to a schedule with a clock), ``teccl`` (the method).
"""
