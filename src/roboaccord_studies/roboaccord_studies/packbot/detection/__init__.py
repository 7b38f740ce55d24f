"""Detection of failed joints from measured joint states and commanded efforts.

detected                  the diagnosis `detected` of the controller `recover`, `accord packbot
                          detect`
diagnosis, partial, stuck further failures: weak drives, slipping brakes,
                          encoders that are stuck
detector, bank, filters   Kalman filters of the arm with each failure, and which of them is named
balance, effort_unknowns  equation of motion by which the filters predict, and its unknowns
noise, touching           noise and counts of encoders; possible contacts
uncertainty, probing      by how much an arm may differ from its model; motions that decide

Constants may be tuned where a module says so; `make detection` is then to be run again, and what
test_detector, test_diagnosis and test_counts find must stay. Nothing but joint states and commanded
efforts may be read.
"""
