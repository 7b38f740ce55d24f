"""Detection of failed joints from their motion and the commanded efforts.

Constants may be tuned where a module says so; `make detection` is then to be run again, and what
test_detector finds must stay. Only joint states and commanded efforts may be read.
"""
