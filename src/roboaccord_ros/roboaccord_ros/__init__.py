"""ROS 2 around the core: messages in, core call, messages out."""
