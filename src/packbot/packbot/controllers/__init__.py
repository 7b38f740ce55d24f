"""Controllers of the arm, and what they are made of.

reach, velocity, transition   controllers of a healthy arm, of an operator, over an equilibrium
recovery                      the controller of an arm with failures; its parts are diagnosis (what
                              finds failures), doubts, rest, replanning and tip_servo
torque                        the control laws of all of them
trial                         a reach with failures in an engine, and what came of it

Controllers may be added: a class here and an entry of `controllers` in robot.py. The names there
and the keyword arguments are keys of scenarios and must stay. Tests: test_packbot_controllers,
test_packbot_recovery, test_packbot_transition.
"""
