"""The planner of a launch: what is to be started, checked before anything is."""
