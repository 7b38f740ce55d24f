"""The integration scheme of the simulator that wrote a log, and its step, as fitted numbers.

A simulator's time step and integration scheme are unknown, and are fitted with every hypothesis
(predicted.py). To first order a scheme evaluates q, qd and friction at times that are late by a, b
and c: forward Euler's steps of h have a = h and b = c = h/2, semi-implicit ones a = 0 and
b = c = h/2 [Hairer, Lubich and Wanner 2006, IX], and those of a higher order a = b = c = 0. Also
fitted is when an effort acts: after its stamp, before it, or between. The priors may be tuned.
"""

from __future__ import annotations

from roboaccord.crosscheck.causes.fit import Prior
from roboaccord.crosscheck.causes.hypotheses import Hypothesis

SCHEME = "scheme"  # quantity of these hypotheses, whose axis counts them
# The delays a, b and c [samples].
LATE_Q, LATE_QD, LATE_FRICTION = (Hypothesis(SCHEME, "", i) for i in range(3))
# How efforts act. LATE_EFFORT is the fraction of a sample by which they act late; whole samples are
# a delay, which is a cause. The others say how they act between samples: both are 0 if efforts are
# held from sample to sample, SMOOTH_EFFORT is 1 if they change smoothly, and IMPULSES is 1 if they
# act as impulses at the samples.
LATE_EFFORT, SMOOTH_EFFORT, IMPULSES = (Hypothesis(SCHEME, "", i) for i in range(3, 6))
# Mean, standard deviation, lowest and highest value [samples, or 1]. All schemes above are within
# 1.5 standard deviations, and the bounds leave a tenth of a sample, of SMOOTH_EFFORT and IMPULSES a
# fifth, for noise.
SCHEME_PRIORS = {
    LATE_Q: Prior(0.0, 0.7, -1.1, 1.1),
    LATE_QD: Prior(0.0, 0.5, -1.1, 1.1),
    LATE_FRICTION: Prior(0.0, 0.5, -1.1, 1.1),
    LATE_EFFORT: Prior(0.5, 0.7, -0.6, 1.6),
    SMOOTH_EFFORT: Prior(0.0, 0.7, -0.2, 1.2),
    IMPULSES: Prior(0.0, 0.7, -0.2, 1.2),
}
