"""Results as one page of HTML that needs nothing else: figures to point at, and a table to search.

Read ``report`` (from folders to the file), ``sources`` (which rows, of which experiment),
``page`` (the whole document), ``one_experiment`` (a section of it), ``markup`` (elements, escaped).
Figures: ``charts`` (which, of which rows), ``line_panels``, ``border_panels``, ``bar_panels``,
``scatter_panels`` (what is in them), ``traces`` (their parts as plotly.js takes them), ``signs``
(looks, legend) and ``hover`` (texts). The table: ``rows_table``, ``row_details``. Imports
``plots``, ``published``, ``results``, ``config`` and ``measures``.
"""
