"""Steering along headings and waypoints."""
