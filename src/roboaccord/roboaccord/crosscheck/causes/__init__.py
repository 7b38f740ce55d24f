"""Causes: what explains residuals of single steps, by one regressor for engines, runs and logs.

From below: hypotheses.py (what may be off), samples.py (recorded data made otherwise), fit.py
(least squares, intervals), explain.py (which causes are named), words.py (in English); ticks.py and
reference.py predict control periods by an engine's twin and by the reference, name.py brings them
together; resolution.py states what would have been found.
"""
