"""The ROS graph: its topics, parameters and messages, and the shells that nodes are made of.

A shell (shell.py) makes a node of ROS from an object of the core; spinning.py and process.py run it
in its process. names.py has the topics, peers.py who takes part in a run, parameters.py the
parameters of nodes, and faults.py those by which joints fail.

An inlet (inlet.py) makes states from messages, the outlet (outlet.py) messages from states.
extras.py does both for what a command has besides efforts. reading.py reads messages that anybody
may have sent. For the cross-check of a running robot, live.py judges its control periods, and
second.py shows the reference as a second robot.

Names, types and defaults stay, for nodes of users rely on them. Tests: test_graph_tables,
test_strangers, test_disorder, test_shell, test_live_crosscheck.
"""
