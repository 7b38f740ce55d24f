"""The nodes of a run: simulator, controller, recorder and cross-check.

Each node is a Shell of `graph` around an object of the core. pacing.py decides when the simulator
steps, and halt.py whether a person holds it; standard.py and entities.py offer the services of
simulation_interfaces where that is installed. inputs.py turns what people send into targets,
topics.py, frames.py and verdicts.py are what the recorder and the cross-check write.
ros2_control.py is the controller of a robot that ros2_control drives. Names of nodes, parameters
and services stay. A run is that of the direct loop, bit for bit (test_transports).
"""
