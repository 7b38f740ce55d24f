"""Gazebo in the graph: its worlds, its bridge, the adapter node."""
