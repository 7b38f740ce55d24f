"""The MonkeyBot's reference simulator (the analytical model), and the robot in a physics engine.

reference   the analytical model, integrated with error control, with plastic impacts
engines     the robot in a physics engine: one model for each mode, joined by plastic impacts

A mode is the set of hands that the magnets hold. What an engine needs may be added in engines.py;
the reference must not be fitted to an engine, for engines are judged by it. Tests: test_motion,
test_engines.
"""
