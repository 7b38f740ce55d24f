"""Detection of failed joints from measured joint states and commanded efforts.

detected                  the diagnosis `detected` of the controller `recover`, `accord packbot
                          detect`
diagnosis, partial, stuck further failures: weak drives, slipping brakes,
                          encoders that are stuck
detector, bank, filters   Kalman filters of the arm with each failure, and which of them is named
balance, effort_unknowns  the balance of efforts that the filters predict by, and its unknowns
noise, touching           what is measured: noise, counts of encoders, possible contact
uncertainty, probing      by how much an arm may differ; motions that would decide

Constants may be tuned where a module says so; `make detection` is then to be run again, and what
test_detector, test_diagnosis and test_counts find must stay. Nothing but joint states and commanded
efforts may be read.
"""
