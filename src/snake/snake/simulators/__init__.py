"""The snake's reference simulator, and figures of its runs."""
