"""Simulators of the arm: the reference with rigid contact, and the models of engines.

reference             the simulator, its options, and what is common with the report's variant
stepping              steps, impacts, and the active contacts after them
motion                equations of motion with active contacts
closing, stiff        where in a step a gap closes; one step with stiff friction
energy, figures       energy balance and figures of a run
engines, world        the arm in physics engines; Gazebo's world

Options of the reference may be tuned; laws of contact are in contact/ and stay. All simulators must
have the same hulls and the same friction of joints. Tests: test_packbot_reference, _events,
_energy, _drives, _gazebo.
"""
