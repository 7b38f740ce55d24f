"""Gazebo as a simulator: its server runs, paused, in this process and steps when asked.

engine.py enters Gazebo among the engines; simulator.py is the simulator of the core over the server
of in_process.py, with pauses.py for the work between steps and faults.py for joints that fail.
world.py writes and checks worlds, prepare.py asks whether Gazebo can run a launch, camera.py and
markers.py serve its window, and transport.py loads its Python bindings.

When efforts are written and states are read is fixed bit for bit. Tests: test_gazebo*.py; without
Gazebo they replay recorded answers (test/gazebo_answers.py).
"""
