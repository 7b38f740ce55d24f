"""Logs of foreign simulators and robots: reading, windows, and what differs from the file.

From below: text.py, arrays.py, bags.py and messages.py (formats; tables.py has them all),
columns.py (what columns hold), clock.py, merge.py, units.py, floating.py, actuators.py and log.py
(samples); body.py, along.py, smooth.py, noise.py, response.py, windows.py and flight.py (the file's
equations along the log), efforts.py (what efforts are), tried.py, predicted.py and problem.py (what
may be off, for the core's regressor: crosscheck/causes), check.py (all of it), result.py, shown.py
and figure.py; door.py and command.py are `ra.crosscheck(LOG)` and `accord crosscheck LOG`.
follow.py is the controller that follows a trajectory of somebody.

Readers, names of columns and hypotheses may be added (tables.py, columns.py, tried.py), thresholds
tuned where their module says so. The fields of result.py, keys of `--json`, and options stay.
Tests: test_log_readers.py, test_own_log.py, test_log_efforts.py, test_floating_log.py.
"""
