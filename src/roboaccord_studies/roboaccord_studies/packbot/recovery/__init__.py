"""Studies of failed arms: equilibria, and the workspace that is kept."""
