"""The integration scheme of the simulator that wrote a log, and its step, as fitted numbers.

A simulator's time step and integration scheme are unknown, and are fitted with every hypothesis
(predicted.py). To first order a scheme evaluates q, qd and friction at times that are late by a, b
and c: forward Euler's steps of h have a = h and b = c = h/2, semi-implicit ones a = 0 and
b = c = h/2 [Hairer, Lubich and Wanner 2006, IX], and those of a higher order a = b = c = 0. Also
fitted is when and how an effort acts: after its stamp, before it, or between; held, or as impulses,
as Euler's steps do. So no scheme is taken for a cause, such as a delay below 0. The speed below
which dry friction is smoothed is unknown, too. The priors may be tuned.
"""

from __future__ import annotations

from roboaccord.crosscheck.causes.fit import Prior
from roboaccord.crosscheck.causes.hypotheses import Hypothesis

from roboaccord_files.logs.body import DRY, DRY_SPEEDS

SCHEME = "scheme"  # quantity of these hypotheses, whose axis counts them
# The delays a, b and c [samples].
LATE_Q, LATE_QD, LATE_FRICTION = (Hypothesis(SCHEME, "", i) for i in range(3))
# How efforts act. LATE_EFFORT is the fraction of a sample by which they act late on average; whole
# samples are a delay, which is a cause. The others say how they act between samples: all are 0 if
# efforts are held from sample to sample, SMOOTH_EFFORT is 1 if they change smoothly, and one of
# IMPULSES is 1 if they act as impulses: a sample before their stamps, at these, or a sample after.
# Semi-implicit Euler's act at the start of a step, which is the first if logs stamp its end;
# forward Euler's act at its end, which is the last if logs stamp its start.
LATE_EFFORT, SMOOTH_EFFORT, *IMPULSES = (Hypothesis(SCHEME, "", i) for i in range(3, 8))
# Shares of the file's dry friction that are smoothed at other speeds of DRY_SPEEDS than the first.
SMOOTHED = [Hypothesis(DRY, "", row) for row in range(1, len(DRY_SPEEDS))]
# Mean, standard deviation, lowest and highest value [samples, or 1]. All schemes above are within
# 1.5 standard deviations, and the bounds leave a tenth of a sample, of shares a fifth, for noise.
SCHEME_PRIORS = {
    LATE_Q: Prior(0.0, 0.7, -1.1, 1.1),
    LATE_QD: Prior(0.0, 0.5, -1.1, 1.1),
    LATE_FRICTION: Prior(0.0, 0.5, -1.1, 1.1),
    LATE_EFFORT: Prior(0.5, 0.7, -0.6, 1.6),
    **dict.fromkeys((SMOOTH_EFFORT, *IMPULSES, *SMOOTHED), Prior(0.0, 0.7, -0.2, 1.2)),
}
