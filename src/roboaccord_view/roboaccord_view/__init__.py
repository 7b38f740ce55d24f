"""Views of robots and recorded runs, in the browser and as animations."""
