"""Expected rates of today's machines: a table of rows, and the page made from it.

To read: ``machine_rates`` (the machines, their states, and a row for each collective) and
``machines_page`` (docs/networks/machines.md).
"""
