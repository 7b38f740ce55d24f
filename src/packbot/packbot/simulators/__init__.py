"""The Packbot's reference simulator, its engines, and figures of its runs."""
