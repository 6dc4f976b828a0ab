"""Rows of results: stored, found, converted, shown and compared.

Read ``rows`` (finished points and their crash-safe file), ``selection`` (rows by method, topology,
status), ``row_groups`` (values for figures), ``frames`` (typed tables), ``tables`` (for people, in
the forms of ``grid``, and JSON), ``remarks`` (below a table), ``comparison`` (two sets of results),
``migration`` (current names in stored results), ``simulation_bounds`` (recomputed). Imports
``config`` and ``measures``.
"""
