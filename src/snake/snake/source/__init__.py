"""The source: the post's controllers as described and as coded, and its shapes."""
