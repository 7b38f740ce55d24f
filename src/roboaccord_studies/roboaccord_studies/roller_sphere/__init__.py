"""The roller sphere beyond figures 3 of the paper: claims, surveys of rigs, contact, dribblers.

claims.py tests the paper's sentences; survey.py with reach.py, builder_maps.py and rig_figures.py
surveys rigs; contact.py compares engines with the model; statics.py, dribblers.py and dribble.py
are about dribbling. Studies may be added, as modules here and commands in setup.cfg; figures 3 of
the paper stay in `roller_sphere.source`. Tests: test_roller_*.py and test_dribblers.py.
"""
