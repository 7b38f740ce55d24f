"""Robots that are a file, such as URDF, xacro, SDF or MJCF, and have no package.

    file                         the robot, with the interface of every robot
    urdf_changes                 changes to the text of the file before a simulation
    joint_friction               friction, springs and servos of its joints
    remarks                      remarks to the user on the resulting model
    controllers                  controllers for any robot
    excitation                   motion for a robot that would otherwise not move

A controller or a remark may be added; another kind of file is an entry point of the group
`roboaccord.robot_files`, named by its ending. The name of that group, the parameters of
config/parameters.yaml and the keys of remarks stay, because users depend on them. A robot with a
package is not added here (docs/new_robot.md). Tests: test_any_robot, test_released,
test_excitation, test_mimic.
"""
