"""The ROS graph: its names, parameters and messages, and the shells that nodes are made of.

names.py has topics, qualities of service and peers; parameters.py the parameters of nodes and
faults.py those of failing joints. shell.py, spinning.py and process.py run a node in its process.
inlet.py, outlet.py and extras.py turn messages into states and commands and back, reading.py reads
messages that anybody may have sent. live.py and second.py serve the cross-check of a running robot.

Names, types and defaults stay, for nodes of users rely on them. Tests: test_graph_tables,
test_strangers, test_disorder, test_shell, test_live_crosscheck.
"""
