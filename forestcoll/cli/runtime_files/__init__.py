"""Commands for runtimes: export, check and score files, and execute schedules.

To read: ``exporting`` with ``export_options``; ``checking``; ``file_scoring``; ``executing``.
"""
