"""The integration scheme of the simulator that wrote a log, and its step, as fitted numbers.

A simulator's time step and integration scheme are unknown, and are fitted with every hypothesis. To
first order a scheme evaluates q, qd and friction at times that are late by a, b and c: forward
Euler's steps of h have a = h and b = c = h/2, semi-implicit ones a = 0 and b = c = h/2 [Hairer,
Lubich and Wanner 2006, IX], and those of a higher order a = b = c = 0. Also fitted is when an
effort acts: after its stamp, before it, or between. Priors of these may be tuned.
"""

from __future__ import annotations

from roboaccord.crosscheck.causes.fit import Prior
from roboaccord.crosscheck.causes.hypotheses import Hypothesis

# Mean, standard deviation, lowest and highest value of each number of the scheme [samples]. All
# schemes above are within 1.5 standard deviations, and the bounds leave a tenth of a sample, of
# SMOOTH and BLOWS a fifth, for noise.
PRIORS = [(0.0, 0.7, -1.1, 1.1), *[(0.0, 0.5, -1.1, 1.1)] * 2, (0.5, 0.7, -0.6, 1.6)]
PRIORS += [(0.0, 0.7, -0.2, 1.2)] * 2
SCHEME = "scheme"
BESIDE = {Hypothesis(SCHEME, "", i): Prior(*prior) for i, prior in enumerate(PRIORS)}
"""The numbers of the scheme, fitted with every hypothesis, with their priors.

The first three are a, b and c [samples]. PART is the fraction of a sample by which efforts act
late; whole samples are a delay, which is a cause. SMOOTH and BLOWS say how efforts act between
samples: both are 0 if they are held from sample to sample, SMOOTH is 1 if they change smoothly, and
BLOWS is 1 if they act as impulses at the samples.
"""
*_, PART, SMOOTH, BLOWS = BESIDE
