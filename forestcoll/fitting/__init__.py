"""What a runtime can carry of a schedule that breaks its limits: ``runtime_fit``."""
