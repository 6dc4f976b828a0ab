"""Input of TE-CCL: a network in epochs, and a demand for chunks.

To read: ``epochs`` (a topology in epochs), ``hyper_edges`` (switches replaced), ``slowdowns``
(links that are slow for a time), ``buffers`` (few slots), ``commodities`` (chunks and who wants
them).
"""
