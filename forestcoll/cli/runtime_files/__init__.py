"""Commands for runtimes: export, check and score files, and execute schedules.

To read: ``exporting`` (with ``within_limits``, for schedules that exceed a runtime's limits);
``findings_report`` (output of checks), ``xml_checking``, ``plan_checking``; ``file_scoring``;
``executing``.
"""
