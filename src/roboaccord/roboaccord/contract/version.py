"""The version of the core, read from the installed distribution.

It is changed in setup.cfg, package.xml and CITATION.cff, which test_packaging compares.
"""

from importlib.metadata import version

VERSION = __version__ = version("roboaccord")
