"""The version of the core, which its package.xml states."""

from importlib.metadata import version

VERSION = __version__ = version("roboaccord")
