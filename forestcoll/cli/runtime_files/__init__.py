"""The commands on files of runtimes: ``exporting``, ``xml_checking``, ``xml_scoring``."""
