"""The roller sphere's reference simulator (the analytical model), its engines, figures of its runs.

What an engine needs may be added in engines.py; the reference must not be fitted to an engine.
"""
