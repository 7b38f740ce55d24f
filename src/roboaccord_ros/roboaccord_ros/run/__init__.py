"""Runs over ROS: the transports `ros` and `ros_processes`, teleoperation, and ends of processes.

runner.py has three nodes in this process, processes.py in processes of their own, each in a private
domain (domain.py). teleop.py drives a running robot. judge.py, module.py and with_parent.py are
programs that a launch starts, and claim.py keeps launches off each other's names.

setup.cfg names run_ros, run_ros_processes and connect. Tests: test_transports, test_failures,
test_switches, test_launch.
"""
