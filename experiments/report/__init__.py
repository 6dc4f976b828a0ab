"""Results as one self-contained HTML page: interactive figures and a searchable table.

Read ``page`` (from sources to the file), ``sources`` (which rows, of which experiment),
``experiment_section``, ``charts`` (which figures some rows give), ``legend`` and ``rows_table``.
``assets`` has the page as a Jinja2 template, its style and its script. Imports ``figures``,
``published``, ``results``, ``config`` and ``measures``.
"""
