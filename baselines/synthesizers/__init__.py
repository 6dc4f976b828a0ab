"""Methods that search for schedules.

To read: ``multitree/``, ``tacos/``, ``blink/``, ``sccl/``, ``teccl/``, ``taccl/``; ``unwound``
(our core after switch unwinding); ``fast_reading``; ``not_reimplemented``.
"""
