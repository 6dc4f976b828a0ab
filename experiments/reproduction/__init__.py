"""Reproduction of the papers' evaluations, item by item, with differences.

Read ``inventory`` (the items), ``difference`` (a printed number beside ours), ``printed_numbers``
(all of them, by paper), ``two_measures`` (of ForestColl's figure 14), ``copy_benefit`` (figure 9 of
TE-CCL), ``training`` (a model of iterations), ``training_gap`` (what the print needs),
``capabilities`` (tables of methods), ``coverage`` (reproduced items and evidence),
``reproduction_page``, ``claims`` (of others), ``claim_rates`` (that decide them), ``claims_page``,
``posted_runs`` (of users), ``redraw`` (figures from rows) and ``cli``. Imports all packages here.
"""
