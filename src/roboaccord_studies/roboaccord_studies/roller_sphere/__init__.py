"""The roller sphere beyond figures 3 of the paper: claims, surveys of rigs, contact in engines.

Studies may be added, as modules here and commands in setup.cfg; what the paper shows or claims in
its figures 3 must stay in `roller_sphere.source`.
"""
