"""Reproduction of the papers' evaluations, item by item, with differences.

Read ``inventory`` (the items), ``difference`` (a printed number beside ours),
``printed_numbers`` (which there are, paper by paper), ``two_measures`` (of ForestColl's figure 14),
``training`` (a model of iterations), ``capabilities`` (the tables of methods),
``coverage`` (what is reproduced, and whether what shows it is there),
``reproduction_page`` (docs/papers), ``redraw`` (all figures from the rows) and ``cli``. On top of
all other packages of experiments.
"""
