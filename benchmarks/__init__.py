"""Programs of developers that are no tests: measurements, campaigns, and what `make` makes anew."""
