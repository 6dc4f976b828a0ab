"""The commands on files of runtimes: ``xml_checking``."""
