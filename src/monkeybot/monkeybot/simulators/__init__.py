"""The MonkeyBot's reference simulator (the analytical model), and the robot in a physics engine.

reference   hybrid, error-controlled, with plastic impacts
engines     one engine model for each mode, joined by plastic impacts

What an engine needs may be added in engines.py; the reference must not be fitted to an engine.
Tests: test_motion, test_engines.
"""
