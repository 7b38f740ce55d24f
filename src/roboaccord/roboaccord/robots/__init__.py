"""Robots that are a file, such as URDF, xacro, SDF or MJCF, and have no package.

Inside: the robot (file), the changes to the file's text (urdf_changes), friction and servos of its
joints (joint_friction), what users are told of the model (remarks), controllers of any robot
(controllers), and motion for one that would stand still (excitation).

A controller or a remark may be added; another kind of file is an entry point of the group
`roboaccord.robot_files`, under its ending. That group's name, the parameters of
config/parameters.yaml and the keys of remarks stay: users have them. A robot with a package is not
added here (docs/new_robot.md). Tests: test_any_robot, test_released, test_excitation, test_mimic.
"""
