"""TE-CCL: schedules in epochs by integer programming, all-to-alls by linear programming.

To read: ``epochs`` (a topology in epochs), ``hyper_edges`` (switches replaced), ``slowdowns``
(links that are slow for a time), ``buffers`` (few slots), ``commodities`` (chunks and who wants
them), ``epoch_program`` (the rows for a number of epochs), ``solvers``, ``greedy`` (a first
solution), ``horizon`` (the fewest epochs), ``cleaning``, ``conversion`` (to a schedule with a
clock), ``teccl`` (the method).

Without copies: ``flow_program``, ``flow_horizon``, ``flow_paths``, ``flow_schedule``.
"""
