"""Lateral undulation by computed torque, and steering along headings and waypoints."""
