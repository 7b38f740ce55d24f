"""Views of robots and recorded runs, in the browser and as animations.

Views may be added in show.py, with options in options.py and door.py; the entry points of setup.cfg
(`view`, `browser`, ...) stay, for the core and launch files ask for them.
"""
