"""What a motion identifies of a robot, and a motion that identifies most: `accord excite`.

From below: regressor.py (the equations of motion as linear in their parameters), base.py (the
combinations of these that motions can tell apart), identified.py (what a given motion shows),
motion.py (Fourier series from rest to rest), search.py (the best conditioned of many), command.py.

Numbers of the search may be tuned: they give other motions for a seed. What must stay: the order of
parameters and their frames, and the fields of `Excitation`, keys of `--json`. Tests:
src/roboaccord_files/test/test_excitation.py, against Pinocchio's regressor.
"""
