"""The commands on files of runtimes.

To read: ``exporting``; ``told_findings`` (what checks say), ``xml_checking``, ``plan_checking``;
``xml_scoring``.
"""
