"""The one family of errors that the command line turns into one line and exit status 2."""


class AccordError(Exception):
    """Tell the user in one line what is wrong and, where it can be said, what to do."""


class DivergedError(AccordError):
    """Report the time and the joint at which a simulation left the finite numbers."""


class LockstepError(AccordError):
    """Report a peer that did not answer in time, or answered something else than asked."""
