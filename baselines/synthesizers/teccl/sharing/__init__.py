"""Several tenants on one network.

To read: ``tenants`` (their schedules, by priority), ``together`` (what they load links with).
"""
