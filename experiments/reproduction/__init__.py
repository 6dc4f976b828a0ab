"""Reproduction of the papers' evaluations, item by item, with differences.

Read ``inventory`` (the items), ``difference`` (a printed number beside ours), ``printed_numbers``
(all of them, by paper), ``two_measures`` (of ForestColl's figure 14), ``training`` (a model of
iterations), ``training_gap`` (what the print needs), ``capabilities`` (the tables of methods),
``coverage`` (reproduced items and their evidence), ``reproduction_page`` (docs/papers), ``claims``
(of other papers), ``claim_rates`` (that decide them), ``claims_page``, ``posted_runs`` (of users),
``redraw`` (all figures from the rows) and ``cli``. Imports all other packages of experiments.
"""
