"""Input of TE-CCL: a network in epochs, and a demand for chunks.

To read: ``epochs`` (a topology in epochs, with limited buffers), ``hyper_edges`` (switches
replaced), ``slowdowns`` (links that are slow for some epochs), ``commodities`` (the demand).
"""
