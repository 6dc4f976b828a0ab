"""TE-CCL in rounds of a few epochs: ``standing`` (where chunks are when one begins),
``round_program`` (what it is to bring), ``a_star`` (one after another).
"""
