"""What a motion identifies of a robot, and a motion that identifies most.

regressor: the equations of motion as linear in their parameters. base: what of these a motion can
tell apart. motion: Fourier series from rest to rest. search: the one that is best conditioned.
"""
