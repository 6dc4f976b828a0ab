"""What TE-CCL is given: a network in epochs, and chunks that somebody wants.

To read: ``epochs`` (a topology in epochs), ``hyper_edges`` (switches replaced), ``slowdowns``
(links that are slow for a time), ``buffers`` (few slots), ``commodities`` (chunks and who wants
them).
"""
