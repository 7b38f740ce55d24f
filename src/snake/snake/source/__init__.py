"""The source: the post's controllers as described and as coded, and its shapes.

post     the gait of eight configurations, and the author's code with its errors
shapes   the picture of the configurations

What the post states must stay, errors included: configurations, times and forces. Colours and
layout of the picture may be changed. Tests: test_post, test_lateral_undulation.
"""
