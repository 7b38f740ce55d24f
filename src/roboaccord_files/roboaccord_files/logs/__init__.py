"""Logs of foreign simulators and robots: reading, windows, and what differs from the file."""
