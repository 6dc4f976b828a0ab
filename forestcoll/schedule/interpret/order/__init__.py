"""What comes before what, however fast threadblocks are: and what therefore never comes.

To read: ``fifos`` (who takes from whom), ``flags`` (what ends a wait), ``precedence`` (all of it),
``deadlocks`` (what never comes to pass, and why), ``happens_before``.
"""
