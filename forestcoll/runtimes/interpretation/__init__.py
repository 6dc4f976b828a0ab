"""Code that the interpreters of MSCCL algorithms and MSCCL++ plans share.

To read: ``findings``; ``cells`` (buffers), ``precedence`` (the order of actions, and deadlocks) and
``happens_before`` (accesses that may race); ``multisets`` and ``one_run`` (data that moves);
``collective_results`` (promises, and roots); ``multiprocessors`` (of machines).
"""
