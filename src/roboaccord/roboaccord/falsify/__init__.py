"""Deliberate errors of an engine, by which the cross-check is itself checked; nobody else knows."""
