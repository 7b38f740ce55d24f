"""DART behind the Simulator interface."""
