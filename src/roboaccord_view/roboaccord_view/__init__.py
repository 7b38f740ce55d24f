"""Views of robots and recorded runs, in the browser and as animations without OpenGL.

door.py has the command and the function `view`, show.py what they show. Films are drawn by film.py
with the room `drawing`, and written by film_files.py; portrait.py draws the picture of a report.
Pages are a stage (stage.py) with a player, a live simulation (live.py, push.py), a robot to pose
(posing.py) or a running robot (node.py), all behind guard.py.

Views and options may be added. The entry points of setup.cfg (`view`, `browser`, ...) stay, for the
core and launch files ask for them; so does guard.py, without which any web page could steer a
robot. Tests are in src/roboaccord_view/test.
"""
