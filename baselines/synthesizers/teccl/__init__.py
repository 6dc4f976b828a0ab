"""TE-CCL: schedules in epochs by integer programming, all-to-alls by linear programming.

To read: ``epochs`` (a topology in epochs), ``commodities`` (chunks and who wants them),
``epoch_program`` (the rows for a number of epochs), ``solvers``, ``horizon`` (the fewest epochs),
``cleaning``, ``conversion`` (to a schedule with a clock), ``teccl`` (the method).

Without copies: ``flow_program``, ``flow_horizon``, ``flow_paths``, ``flow_schedule``.
"""
