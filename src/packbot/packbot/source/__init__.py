"""What the report did and claims: its joint clamp and its collapse.

The report's rules must stay, errors included; figures of results may be added in collapse.py.
"""
