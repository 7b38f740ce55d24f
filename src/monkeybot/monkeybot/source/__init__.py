"""The source: the report's search as it was, and its figures."""
