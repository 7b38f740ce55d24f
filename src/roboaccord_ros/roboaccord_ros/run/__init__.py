"""Runs over ROS: nodes in one process, or in processes of their own."""
