"""The allgather optimum as linear programs: oracles for the exact core.

To read: ``linear_optimum``; then ``fractional_packing``, by column generation, and its columns,
``arborescence``.
"""
