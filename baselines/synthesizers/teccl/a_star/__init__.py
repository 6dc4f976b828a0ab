"""TE-CCL in rounds of a few epochs: ``round_program`` (state and program of a round), ``a_star``
(the rounds).
"""
