"""Codes of the reasons for which a level of a cross-check has its outcome.

A cross-check compares physics engines with the reference, our own model, at several levels, such as
accelerations, single steps and trajectories. The reason for the outcome of a level (outcome.py) is
a code with figures; report/words.py has the sentence for each code. A new code is added here, and
its sentence there. Values are part of the JSON of `accord crosscheck`, and stay.

In the names, TWIN is the reference computed again with the engine's integration method: an engine
that matches its twin solves our equations. STEP is one control period from one state, RUN the whole
motion, BOOK the energy balance of a run, and LOG a recording of joints that users made themselves.
A tick is an instant at which the controller is called, an event something like an impact.
"""

from enum import StrEnum, auto


class Code(StrEnum):
    """Why a level has its outcome."""

    TEXT = auto()  # a text of the user, of an engine or of an error
    BELOW_ROUND_OFF = auto()  # the difference is below round-off
    ALLOWED = auto()  # the difference is within the limit that the scenario allows, with its reason
    # Too little was judged, or nothing could be.
    FEW_JUDGED = auto()  # too small a share of the ticks or events could be judged
    FEW_STEPS = auto()  # a verdict needs more physics steps than were tried (--refine)
    COARSE = auto()  # the physics step is too large for a cause to be found
    NOTHING_MOVES = auto()  # neither initial rates nor efforts set the robot in motion
    NOTHING_CAN_MOVE = auto()  # the robot has nothing that can move
    KINEMATIC = auto()  # the reference is kinematic, so that one step is compared by rates instead
    HIDDEN = auto()  # a larger error could go unnoticed than the scenario allows
    # What is wrong: a cause, or a difference of models or accelerations.
    CAUSE = auto()  # a known cause explains the difference, such as a mass that is off
    MODEL = auto()  # the models differ, such as in a mass or an inertia
    ACCELERATION = auto()  # accelerations at the same state differ by more than is allowed
    OFF_BY = auto()  # error of a quantity, in its unit
    OFF_BY_SHARE = auto()  # error of a quantity, relative to its value
    OFF_BY_ANGLE = auto()  # error of a direction, as an angle
    INSTEAD = auto()  # another direction or kind than ours
    READS = auto()  # an engine reads back another value than the one that was set
    MISSING = auto()  # a link or joint is missing in the engine
    # Commands that have no effect.
    NO_COMMAND = auto()  # no efforts are commanded; only the motion shows a wrench or twist
    DISOBEYED = auto()  # an effort is not as commanded
    SWITCH_DISOBEYED = auto()  # a switch is not as commanded
    BELOW_SINGLE = auto()  # nothing differs in single precision, in which smaller errors hide
    # Ticks of the engine against those of its twin.
    NO_TWIN = auto()  # the engine has no twin, for a reason that is given as text
    NOT_THE_TWIN = auto()  # a tick differs from the twin by more than round-off explains
    THE_TWIN = auto()  # each tick matches the twin
    # Ticks without an event match the twin; the error of the others falls with the physics step,
    # or (UNRESOLVED) the steps are too large to tell.
    THE_TWIN_BUT_EVENTS = auto()
    THE_TWIN_BUT_UNRESOLVED = auto()
    EVENT_TICKS = auto()  # ticks with an event or a stop differ by more than time stepping explains
    # The same motion again, or moved to another place.
    NOT_REPEATED = auto()  # the same run gives another motion when it is repeated
    NO_MOVE = auto()  # there is nothing that could be moved
    NOT_INVARIANT = auto()  # the motion changes with the place or direction of the whole scene
    NO_FREE_TICK = auto()  # every tick has an event or a joint at its stop
    # Single steps.
    REFERENCE_ERRS = auto()  # the reference's own error is too large, relative to the change
    STEP_ORDER = auto()  # the error falls with a lower order of the physics step than expected
    STEP_REMAINDER = auto()  # an error remains when the physics step is extrapolated to 0
    STEP_SHARE = auto()  # what the error of one step is, as a share of the change; not judged
    STEP_UNEXPLAINED = auto()  # a control period has an error that time stepping does not explain
    STEP_TOO_LARGE = auto()  # the error of one step is a larger share of the change than is allowed
    STEPPING_EXPLAINS = auto()  # time stepping explains a share of the error
    STEPPING_HIDES = auto()  # the error of time stepping is so large that it hides smaller ones
    NO_STEP = auto()  # no step could be compared
    REFUSED_STATE = auto()  # the reference refuses the engine's state
    # Trajectories.
    TOLERANCE_BELOW_NOISE = auto()  # the tolerance is smaller than the effect of round-off
    TOO_FAR = auto()  # positions at the given step are farther apart than is allowed
    RUN_ORDER = auto()  # the difference converges with a lower order than expected
    RUN_REMAINDER = auto()  # a difference remains when the physics step is extrapolated to 0
    CHAOTIC = auto()  # small differences grow so fast that statistics over seeds replace this level
    THROWN = auto()  # the control loop throws joints from stop to stop
    # Statistics of a figure over seeds.
    NO_FIGURE = auto()  # some runs do not have the figure
    FEW_RUNS = auto()  # too few runs have the figure
    SHARES = auto()  # another share of the runs than the reference's has the figure above 0
    UNSETTLED = auto()  # the difference of medians is not known precisely enough for a verdict
    NO_FIGURE_AT_STEP = auto()  # the figure does not exist at another physics step
    MEDIANS = auto()  # the medians differ
    # Events.
    NO_EVENTS = auto()  # nothing happens that an engine logs
    NO_RESTART = auto()  # runs cannot be restarted from the state at an event; the text says why
    EVENT_UNEXPLAINED = auto()  # an event from the same state differs from that of the reference
    EVENT_MISPLACED = auto()  # a log and the motion disagree about the time of an impact at a stop
    EVENT_MISSING = auto()  # only one of engine and reference has an event
    # Energy.
    NO_BOOK = auto()  # there is no energy balance, for a reason that is given as text
    ONLY_GAINS = auto()  # some losses are not measured, so that only gains of energy are judged
    ENERGY_OF_TWIN = auto()  # the energy balance differs from the twin's by more than round-off
    ENERGY = auto()  # energy appears or disappears that the balance does not account for
    # Certificate of contact.
    CONTACT_LAW = auto()  # the reference breaks a law of contact beyond its own tolerances
    # Recorded runs and logs.
    SUSPECT = auto()  # a recorded run is outside its limits, with a suspected cause
    STEP_FAR = auto()  # as STEP_TOO_LARGE, at one tick of the recorded run
    LARGEST_ERROR = auto()  # the largest error beyond what time stepping explains
    OUR_EQUATIONS = auto()  # the recorded motion follows our equations
    LOG_NOISE = auto()  # noise of the positions is too large, compared with what the efforts do
    LOG_EFFORT_NOISE = auto()  # share of the residuals that noise of the efforts may make
    LOG_EFFORT_ZERO = auto()  # the log has efforts of 0 only, because they were not measured
    LOG_RESIDUALS = auto()  # size of the residuals in windows of a log, with what explains them
    # Remarks on a whole report.
    LEVEL_EXCUSED = auto()  # the scenario states why the outcome of a level does not count
    LEVEL_WITHIN = auto()  # a level is within its limits, with a remark on how
    NO_EXCUSE_NEEDED = auto()  # the scenario excuses a level that is within its limits
    EXCITED = auto()  # joints got random efforts, because nothing would have moved
    SENSITIVE = auto()  # how long engines agree before the last bit of an initial value matters
    SAME_SETTINGS = auto()  # two engines have the same settings, so that only one was run
