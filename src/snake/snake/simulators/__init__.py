"""The snake's reference simulator (the analytical model), and figures of its runs.

Figures may be added in metrics.py; the reference must not be fitted to an engine, for engines are
judged by it.
"""
