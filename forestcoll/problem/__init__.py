"""What is asked, and what bounds every answer: no schedule and no algorithm yet.

To read: ``collective`` and ``weights`` (what is asked), ``sizes`` (of how much data), ``limits``
(for how long), ``request`` (all of it, checked in one place), ``cuts`` and ``optimum`` (the bound
of one phase and the cut that proves it), ``rate_bound`` (prices that prove it where no cut does),
``allreduce_bound`` and ``all_to_all_bound`` (those of these), then the files in which such proofs
travel: ``certificate_entries``, ``allreduce_certificate``, ``certificate_document``.
"""
