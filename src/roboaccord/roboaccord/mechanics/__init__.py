"""Mechanics that all engines share: kinematics of trees, friction, joint stops, losses."""
