"""Gaits: periodic motions, their search and return maps.

gait            phases, error and stopping event in one object, and its evaluation
landscape       the error over a grid of starts
search          least error, and gaits that repeat exactly
collisionless   passive gaits without an impact
repetition      open-loop repetition of the report's gait
multipliers     linearised return maps

A gait is added as a function like `horizontal` of gait.py. Fields of results stay, for they are
keys of `--json`. Tests: test_gaits, test_landscape, test_ensemble.
"""
