"""The roller sphere's reference simulator, its engines, and figures of its runs."""
