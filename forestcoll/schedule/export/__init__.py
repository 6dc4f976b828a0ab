"""Programs in the formats of runtimes."""
