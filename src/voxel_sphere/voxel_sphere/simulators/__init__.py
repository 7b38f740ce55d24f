"""Simulators of the ball: the references (analytical models) and the engines, with their terrain.

reference.py has the kinematic and the heavy ball on the field of a terrain; scene.py makes that
terrain from a scenario, engines.py gives it to engines, and world.py to Gazebo and to pictures.
What an engine needs may be added. The references must not be fitted to an engine, for they are what
engines are compared with. Tests: test_voxel_robot, test_voxel_engines, test_voxel_energy.
"""
