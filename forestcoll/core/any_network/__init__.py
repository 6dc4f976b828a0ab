"""The optimum where switches send more than they receive, or links share a capacity.

To read: ``optimum`` (what comes out), ``sub_capacities`` (the theorem, and the rounds),
``cut_program`` (rows, columns, solutions), ``exact_basis`` (floats made exact), and
``whole_capacities`` (the same in whole trees, for fixed k too).
"""
