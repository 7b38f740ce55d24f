"""The source: the post's controllers as described and as coded, and its shapes.

Nothing of the post may be changed, errors included: configurations, times and forces stay as it has
them. Colours of the picture may be (shapes.py).
"""
