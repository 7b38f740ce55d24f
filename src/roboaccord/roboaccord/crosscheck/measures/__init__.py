"""What the larger levels measure; how each judges it is in the file of that name in levels/.

Functions may be changed as their tests in src/roboaccord/test allow. Fields of checks
(`OneStepCheck`, `SchemeCheck`, `ConvergenceCheck`, ...) are keys of summary.json and stay. A check
is plain data, since levels are measured in other processes. Nothing here imports levels/.
"""
