"""Methods that search for schedules.

To read: ``multitree/``, ``tacos/``, ``blink/``, ``sccl/``, ``teccl/``, ``taccl/``, ``syccl/``;
``unwound`` (our core after switch unwinding); ``fast_reading``.
"""
