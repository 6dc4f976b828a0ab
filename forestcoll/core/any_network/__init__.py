"""Optimum of networks with unbalanced switches or shared capacities, by linear programs.

To read: ``optimum`` (the entry), ``sub_capacities`` (the theorem, and the cutting-plane rounds),
``cut_program`` (rows, columns, solutions), ``exact_basis`` (exact solutions from floats), and
``whole_capacities`` (capacities in whole trees, for fixed k too).
"""
