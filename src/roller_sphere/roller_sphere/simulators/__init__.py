"""Reference simulator (analytical model) of the ball in its bearing, and the robot in engines.

What an engine needs may be added in engines.py. The reference must not be fitted to an engine, for
engines are compared with it. Tests: test_roller_driving, test_roller_for_gazebo.
"""
