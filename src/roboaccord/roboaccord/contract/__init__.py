"""Contract between controllers, simulators and everything that records them."""
