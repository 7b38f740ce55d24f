"""The paper's rig and figures, as it has them; how they are drawn may be changed.

Tests: test_roller_figures.
"""
