"""The commands on files of runtimes: ``exporting`` (with ``within_limits``: what fits a runtime
instead), ``xml_checking``, ``file_scoring``.
"""
