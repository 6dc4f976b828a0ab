"""What is asked, and what bounds every answer: no schedule and no algorithm yet.

To read: ``collective`` and ``weights`` (what is asked), ``sizes`` (of how much data), ``limits``
(for how long), ``options`` (all of it), ``request`` (options on a network), ``cuts`` and
``optimum`` (the bound of one phase and its cut), ``rate_bound`` (prices where no cut proves it),
``allreduce_bound`` and ``all_to_all_bound`` (those of these), then the files in which such proofs
travel: ``certificate_entries``, ``allreduce_certificate``, ``certificate_document``.
"""
