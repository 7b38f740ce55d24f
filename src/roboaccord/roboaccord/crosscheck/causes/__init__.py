"""Causes: which error in an engine, a run or a log explains the residuals of single steps.

A residual is a predicted state less the recorded one, in units of what noise explains. If an engine
has, say, a wrong mass of a link, the residuals follow a pattern that a model with that error
reproduces. The regression here tries such errors (hypotheses), fits their sizes by least squares,
and names the fewest that explain the residuals. It serves engines, recorded runs and logs alike.

From below: hypotheses.py lists what may be wrong, samples.py rewrites recorded data with an error
undone, fit.py fits sizes, search.py chooses what is fitted, and explain.py which causes are named
(their words are in report/cause_words.py). ticks.py and reference.py predict control periods by an
engine's twin and by the reference, findings.py brings them together, and resolution.py states which
errors would have been found.

Hypotheses and thresholds may be changed while test_naming, test_causes, test_scheme and
test_own_log find the same names; names of quantities and codes of `Conclusion` stay.
"""
