"""Fail in one line, as a node does."""

import sys

sys.stderr.write("error: no answer from Gazebo\n")
sys.exit(2)
