"""Charts of results.

To read: ``outcomes`` (failures and upgrades), ``trade_offs`` (rates by depth and by k),
``data_frames`` (lines of any numbers) and ``named_rows`` (what bar charts share).
"""
