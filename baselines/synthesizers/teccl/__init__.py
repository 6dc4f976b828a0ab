"""TE-CCL: schedules in epochs by integer programming.

To read: ``epochs`` (a topology in epochs), ``commodities`` (chunks and who wants them),
``epoch_program`` (the rows for a number of epochs), ``solvers``, ``horizon`` (the fewest epochs),
``reward`` (the paper's objective), ``epoch_count`` (epochs that will do), ``rounds/`` (a few
epochs at a time), ``cleaning``, ``conversion`` (to a schedule with a clock), ``teccl`` (all of
it).
"""
