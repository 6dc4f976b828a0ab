"""The commands on files of runtimes.

To read: ``exporting`` (with ``within_limits``: what fits a runtime instead); ``findings_report``
(what checks say), ``xml_checking``, ``plan_checking``; ``file_scoring``.
"""
