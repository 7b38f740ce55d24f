"""Studies of failed arms: equilibria, and the workspace that is kept.

Defaults of both commands may be changed; keys of their JSON output stay. How recovery itself plans
is in `packbot.planning`.
"""
