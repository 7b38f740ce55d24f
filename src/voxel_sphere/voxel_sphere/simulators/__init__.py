"""Reference simulators (analytical models) of the ball, its engines, and figures of its runs.

What an engine needs may be added in engines.py; the references must not be fitted to an engine.
"""
