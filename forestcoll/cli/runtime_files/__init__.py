"""Commands for runtimes: export, check and score files, and execute schedules.

To read: ``exporting``; ``checking``; ``file_scoring``; ``executing``.
"""
