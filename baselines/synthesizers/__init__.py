"""Methods that search for schedules.

To read: ``multitree/``, ``tacos/``, ``blink/``, ``sccl/``, ``teccl/``, ``taccl/``; ``unwound``
(our core after switch unwinding); ``not_reimplemented``.
"""
