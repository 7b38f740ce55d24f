"""Controllers of the arm, and their parts.

reach        the healthy arm goes to a target or a pose
velocity     an operator commands joint rates or positions
transition   a loose joint swings over its unstable equilibrium
recovery     the arm reaches a target although joints fail; its parts are diagnosis (reports of
             failures), doubts, rest, replanning and tip_servo
torque       the control laws of all of them
identified   an arm whose parameters were identified, for reach and recovery
trial        a reach with failures in an engine, and its result

Controllers may be added: a class here and an entry of `controllers` in robot.py. The names there
and the keyword arguments are keys of scenarios and must stay. Tests: test_packbot_controllers,
test_packbot_recovery, test_packbot_transition.
"""
