"""Drawing of pictures without a display: faces, ground and shadows, texts, and what is left out.

raster.py draws faces with a depth buffer, ground.py the grid, paths and shadows, backdrop.py what
is behind the robot, annotations.py writes texts; failures.py finds joints that fail and waiting.py
times without motion. film.py
composes pictures of them, and pages use some. Colours and sizes may be changed. test_view.py and
test_annotations.py compare pixels and texts with geometry.
"""
