"""Charts of results.

To read: ``outcomes`` (failures and upgrades), ``trade_offs`` (rates by depth and by k) and
``data_frames`` (lines of any numbers).
"""
