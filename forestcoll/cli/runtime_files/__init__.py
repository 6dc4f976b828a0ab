"""Commands for runtimes: export, check and score files, and execute schedules.

To read: ``exporting``; ``findings_report`` (output of checks), ``xml_checking``, ``plan_checking``;
``file_scoring``; ``executing``.
"""
