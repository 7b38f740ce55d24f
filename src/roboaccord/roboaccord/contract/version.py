"""The version of the core, as the installed distribution has it.

Change it in setup.cfg, package.xml and CITATION.cff, which test_packaging compares; not here.
"""

from importlib.metadata import version

VERSION = __version__ = version("roboaccord")
