"""Results as one self-contained HTML page: interactive figures and a searchable table.

Read ``page`` (from sources to the file, a section for each experiment), ``sources`` (rows by
experiment), ``charts`` (choice of figures), ``legend``, ``rows_table`` and ``packed_text``.
``assets`` has the page as a Jinja2 template, its style and its script. Imports ``figures``,
``published``, ``results``, ``config`` and ``measures``.
"""
