"""Precedence of actions at any speeds of threadblocks, and deadlocks that follow from it.

To read: ``fifos`` (matches receives with sends), ``flags`` (which step ends a wait), ``precedence``
(all edges), ``deadlocks`` (actions that never run, and why), ``happens_before``.
"""
