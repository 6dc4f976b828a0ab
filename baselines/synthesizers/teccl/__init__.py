"""TE-CCL: schedules in epochs by integer programming.

To read: ``epochs`` (a topology in epochs), ``hyper_edges`` (switches replaced), ``slowdowns``
(links that are slow for a time), ``buffers`` (few slots), ``commodities`` (chunks and who wants
them), ``epoch_program`` (the rows for a number of epochs), ``solvers``, ``horizon`` (the fewest
epochs), ``cleaning``, ``conversion`` (to a schedule with a clock), ``teccl`` (the method),
``tenants`` (several collectives at once), ``together`` (whether links have room for all).
"""
