"""Causes: what explains residuals of single steps, by one regressor for engines, runs and logs.

From below: hypotheses.py (what may be off), samples.py (recorded data made otherwise), fit.py
(least squares, intervals), search.py (what is fitted), explain.py (which causes are named); their
words are in report/cause_words.py. ticks.py and reference.py predict control periods by an engine's
twin and by the reference, name.py brings them together; resolution.py states what would have been
found. Hypotheses and thresholds may be changed while test_naming, test_causes, test_scheme and
test_own_log find the same names; names of quantities and codes of `Conclusion` stay.
"""
