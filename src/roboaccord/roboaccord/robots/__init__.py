"""Robots that are a file, such as URDF, xacro, SDF or MJCF, and have no package.

Inside are: the robot (file), the changes to the file's text (urdf_changes), friction and servos of
its joints (joint_friction), what users are told about the model (remarks), controllers of any robot
(controllers), and motion for a robot that would stand still (excitation).

A controller or a remark may be added; another kind of file is an entry point of the group
`roboaccord.robot_files`, named by its ending. The name of that group, the parameters of
config/parameters.yaml and the keys of remarks stay: users have them. A robot with a package is not
added here (docs/new_robot.md). Tests: test_any_robot, test_released, test_excitation, test_mimic.
"""
