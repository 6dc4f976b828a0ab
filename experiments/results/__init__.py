"""Rows of results: stored, found, converted, shown and compared.

Read ``rows`` (finished points and their crash-safe file), ``logs`` (of failures), ``selection``
(rows by method, topology, status), ``columns`` (values for figures), ``scaling_study`` (networks of
one line), ``frames`` (typed tables), ``tables`` (for people, in the forms of ``grid``, and JSON),
``comparison`` and ``comparison_table`` (two sets of results), ``migration`` (current names in
stored results). Imports ``config`` and ``measures``.
"""
