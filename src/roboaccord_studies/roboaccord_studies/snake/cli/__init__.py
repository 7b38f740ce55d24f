"""Commands that the studies add to `accord snake`, one module each."""
