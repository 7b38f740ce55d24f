"""Causes: which error in an engine, a run or a log explains the residuals of single steps.

One regression serves all sources. From below: hypotheses.py lists what may be wrong, samples.py
rewrites recorded data with an error undone, fit.py fits sizes by least squares, search.py chooses
what is fitted, and explain.py which causes are named (their words are in report/cause_words.py).
ticks.py and reference.py predict control periods by an engine's twin and by the reference, name.py
brings them together, and resolution.py states which errors would have been found.

Hypotheses and thresholds may be changed while test_naming, test_causes, test_scheme and
test_own_log find the same names; names of quantities and codes of `Conclusion` stay.
"""
