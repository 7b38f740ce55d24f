"""Contract between controllers, simulators and everything that records them."""

VERSION = "0.1.0"  # of the core
