"""Codes of the reasons for which a level of a cross-check has its outcome.

A cross-check consists of levels, such as accelerations, single steps and trajectories. The reason
for the outcome of a level (outcome.py) is a code with figures; report/words.py has the sentence for
each code. A new code is added here, and its sentence there. Values are part of the JSON of `accord
crosscheck`, and stay.

In the names, TWIN is the reference (our own model), computed again with the engine's integration
method: an engine that matches its twin solves our equations. STEP is a single step from one state,
RUN the whole motion, BOOK the energy balance of a run.
"""

from enum import StrEnum, auto


class Code(StrEnum):
    """Why a level has its outcome."""

    TEXT = auto()  # a text of a user, an engine or an error
    BELOW_ROUND_OFF = auto()
    ALLOWED = auto()
    # Too little was judged, or nothing could be.
    FEW_JUDGED = auto()
    FEW_STEPS = auto()
    COARSE = auto()
    NOTHING_MOVES = auto()
    NOTHING_CAN_MOVE = auto()
    KINEMATIC = auto()
    HIDDEN = auto()  # a larger error could go unnoticed than the scenario allows
    # What is wrong: a cause, or a difference of models or accelerations.
    CAUSE = auto()
    MODEL = auto()
    ACCELERATION = auto()
    OFF_BY = auto()
    OFF_BY_SHARE = auto()
    OFF_BY_ANGLE = auto()
    INSTEAD = auto()  # another direction or kind than ours
    READS = auto()  # what an engine reads from a file
    MISSING = auto()
    # Commands that have no effect.
    NO_COMMAND = auto()
    DISOBEYED = auto()
    SWITCH_DISOBEYED = auto()
    # Ticks of the engine against those of its twin.
    NO_TWIN = auto()
    NOT_THE_TWIN = auto()
    THE_TWIN = auto()
    THE_TWIN_BUT_EVENTS = auto()
    THE_TWIN_BUT_UNRESOLVED = auto()
    EVENT_TICKS = auto()
    # The same motion again, or moved to another place.
    NOT_REPEATED = auto()
    NO_MOVE = auto()
    NOT_INVARIANT = auto()
    NO_FREE_TICK = auto()
    # Single steps.
    REFERENCE_ERRS = auto()
    STEP_ORDER = auto()
    STEP_REMAINDER = auto()
    STEP_SHARE = auto()
    STEP_UNEXPLAINED = auto()
    STEP_TOO_LARGE = auto()
    STEPPING_EXPLAINS = auto()
    STEPPING_HIDES = auto()
    NO_STEP = auto()
    REFUSED_STATE = auto()
    # Trajectories.
    TOLERANCE_BELOW_NOISE = auto()
    TOO_FAR = auto()
    RUN_ORDER = auto()
    RUN_REMAINDER = auto()
    CHAOTIC = auto()
    THROWN = auto()  # the control loop throws joints from stop to stop
    # Statistics of a figure over seeds.
    NO_FIGURE = auto()
    FEW_RUNS = auto()
    SHARES = auto()
    UNSETTLED = auto()
    NO_FIGURE_AT_STEP = auto()
    MEDIANS = auto()
    # Events.
    NO_EVENTS = auto()
    NO_RESTART = auto()
    EVENT_UNEXPLAINED = auto()
    EVENT_MISPLACED = auto()
    EVENT_MISSING = auto()
    # Energy.
    NO_BOOK = auto()
    ONLY_GAINS = auto()
    ENERGY_OF_TWIN = auto()
    ENERGY = auto()
    # Recorded runs and logs.
    SUSPECT = auto()
    STEP_FAR = auto()
    LARGEST_ERROR = auto()
    OUR_EQUATIONS = auto()
    LOG_NOISE = auto()
    LOG_EFFORT_NOISE = auto()
    LOG_EFFORT_ZERO = auto()
    LOG_RESIDUALS = auto()
    # Remarks on a whole report.
    LEVEL_EXCUSED = auto()
    LEVEL_WITHIN = auto()
    NO_EXCUSE_NEEDED = auto()
    EXCITED = auto()  # joints got random efforts, because nothing would have moved
    SENSITIVE = auto()
    SAME_SETTINGS = auto()
