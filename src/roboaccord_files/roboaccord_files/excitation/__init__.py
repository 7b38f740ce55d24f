"""Find a motion that identifies the parameters of a robot: the command `accord excite`.

Not all masses, inertias and frictions of a robot can be told apart by its motion, and a poor motion
shows few. From below: suitable.py (for which robots), regressor.py (the equations of motion,
which are linear in these parameters), base.py (the combinations of them that motions can tell
apart), identified.py (what a given motion shows), motion.py (Fourier series from rest to rest),
search.py (the best of many), command.py.

Numbers of the search may be tuned: they give other motions for a seed. The order of parameters and
the fields of `Excitation`, keys of `--json`, stay. Tests: test_excitation.py in
src/roboaccord_files/test, against Pinocchio's regressor.
"""
