"""The nodes: simulator, controller, recorder, cross-check, view in the browser."""
