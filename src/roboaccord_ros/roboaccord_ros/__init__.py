"""ROS 2 around the core: messages in, a call of the core, messages out.

`nodes` has the nodes (simulator, controller, recorder, cross-check) and `graph` what they share:
topics, parameters, states from messages. `gazebo` runs Gazebo in a node's process. `plan` decides
on a launch, `launch` starts its processes, and `run` serves `accord run --transport ros`.

Names of topics, services, parameters and nodes stay, for nodes of users rely on them. A run over
ROS is that of the direct loop, bit for bit (test_transports). Tests are in src/roboaccord_ros/test.
"""
