"""What is run: robots, scenarios, and the setup that brings the two together."""
