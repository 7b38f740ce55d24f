"""Measurements that are no tests: `make speed`, and the campaigns."""
