"""What is measured of a point."""
