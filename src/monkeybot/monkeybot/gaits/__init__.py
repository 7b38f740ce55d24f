"""Gaits, the steps from hand to hand: their evaluation, search and stability.

gait            a gait as a list of phases with an error, and its evaluation
landscape       the error over a grid of starts
search          the lowest error, and gaits that repeat exactly
collisionless   passive gaits without an impact
repetition      open-loop repetition of the report's gait
multipliers     linearised return maps

A gait is added as a function like `horizontal` of gait.py. Fields of results stay, for they are
keys of `--json`. Tests: test_gaits, test_landscape, test_ensemble.
"""
