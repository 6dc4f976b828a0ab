"""Code that the interpreters of MSCCL algorithms and MSCCL++ plans share.

To read: ``findings``; ``cells`` (buffers), ``precedence`` and ``happens_before`` (the order of
actions), ``neighbours`` (accesses that may race), ``multisets`` and ``one_run`` (data that moves),
``collective_results``; ``roots``; ``multiprocessors`` (of machines).
"""
