"""The source: the description's own method, its accuracy, and its pictures."""
