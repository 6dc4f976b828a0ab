"""Rows of results: stored, found, converted, shown and compared.

Read ``rows`` (one finished point, and the file that a crash cannot spoil), ``logs`` (of failures),
``selection`` (which rows one wants), ``columns`` (values of rows as figures want them),
``scaling_study`` (which networks are one line), ``frames`` (typed tables), ``tables`` (for people,
in the forms of ``grid``, and as JSON), ``comparison`` and ``comparison_table`` (two sets of
results), ``migration`` (current names in stored results). Imports ``config`` and ``measures``.
"""
