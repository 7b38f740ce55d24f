"""Adapters of the bench, a file an engine; each has an `Engine` under the name ENGINE."""
