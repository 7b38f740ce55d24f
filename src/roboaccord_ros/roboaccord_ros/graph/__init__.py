"""Names, messages and services of the ROS graph."""
