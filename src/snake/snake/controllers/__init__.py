"""Lateral undulation by computed torque."""
