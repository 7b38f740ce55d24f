"""Compare a user's log with the file of its robot: read it, predict it, and name what differs.

The modules, in the order of the work:

- formats: text.py, arrays.py, bags.py, messages.py; tables.py chooses among them, table.py is what
  they return
- from columns to samples: columns.py (what each column holds), clock.py, merge.py, units.py,
  floating.py (a base that moves), actuators.py; log.py puts them together
- the file's equations along the log, over short windows of samples: body.py, along.py, smooth.py,
  noise.py, nodes.py, blocks.py, response.py, windows.py, flight.py
- what differs: efforts.py (what the efforts mean), tried.py, scheme.py, acting.py, predicted.py,
  problem.py (the causes that are tried, for the regression of roboaccord.crosscheck.causes),
  check.py (the whole check)
- output: result.py, shown.py, figure.py; door.py is `ra.crosscheck(LOG)`, command.py the command

follow.py is apart: the controller that follows a trajectory from a file.

The fields of result.py, the keys of `--json` and the options are interfaces.
Tests: test_log_readers.py, test_own_log.py, test_log_efforts.py, test_log_mistakes.py,
test_floating_log.py.
"""
