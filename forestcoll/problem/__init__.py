"""Problem statements and bounds: collectives, options, cuts and certificates, without algorithms.

To read: ``collective`` and ``weights`` (the task), ``sizes`` (bytes), ``limits`` (search time),
``options`` (all options), ``request`` (options on a network). Then the bounds: ``cuts`` and
``optimum`` (of one phase), ``rate_bound`` (by prices, where no cut proves it), ``allreduce_bound``
and ``all_to_all_bound``, ``price_bound`` (of these collectives). Any amounts: ``demand``,
``named_demands``, ``demand_files``. Then the files of proofs: ``certificate_entries``,
``allreduce_certificate``, ``all_to_all_certificate``, ``certificate_document``.
"""
