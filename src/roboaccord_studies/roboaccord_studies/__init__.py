"""Studies that go beyond the source documents, a room for each robot.

A room is imported only where its robot is installed.
"""
