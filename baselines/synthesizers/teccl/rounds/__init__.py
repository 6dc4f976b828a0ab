"""TE-CCL in rounds of a few epochs: ``standing`` (where chunks are when one begins),
``round_program`` (what it is to bring), ``rounds`` (one after another).
"""
