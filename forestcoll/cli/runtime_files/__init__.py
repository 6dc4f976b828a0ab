"""The commands on files of runtimes: ``exporting``, ``xml_checking``, ``file_scoring``."""
