"""The nodes: simulator, controller, recorder, cross-check."""
