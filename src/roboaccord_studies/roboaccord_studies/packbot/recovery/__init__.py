"""Studies of failed arms: targets recovered, a second opinion on them, equilibria, workspace."""
