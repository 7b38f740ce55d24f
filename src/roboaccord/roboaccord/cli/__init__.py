"""The command line `accord`."""
