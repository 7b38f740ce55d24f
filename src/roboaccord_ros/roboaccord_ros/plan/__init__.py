"""The planner of a launch: it decides what is started, and checks that before anything is.

request.py reads the arguments, simulator.py chooses a simulator, windows.py the windows, and
plan.py puts all decisions together. launch/planner.py runs it in the Python of the workspace. What
cannot run is refused in one line (test_plan).
"""
