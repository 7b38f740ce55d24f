"""The version of the core, as the installed distribution has it.

The code stays; the version may be changed in setup.cfg, package.xml and CITATION.cff, which
test_packaging compares.
"""

from importlib.metadata import version

VERSION = __version__ = version("roboaccord")
