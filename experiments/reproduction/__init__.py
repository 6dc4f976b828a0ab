"""What of the papers' evaluations comes out here, item by item, and how far off it is.

Read ``inventory`` (the items), ``difference`` (a printed number beside ours),
``forestcoll_numbers``, ``bfb_numbers``, ``teccl_numbers`` and ``teccl_peers`` (which, from rows),
``bfb_bounds`` (by formulas), ``training`` (a model of iterations), ``capabilities`` (the tables of
methods), ``coverage`` (what is reproduced, and whether what shows it is there),
``reproduction_page`` (docs/papers), ``redraw`` (all figures from the rows) and ``cli``. On top of
all other packages of experiments.
"""
