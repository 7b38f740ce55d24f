"""A pendulum on a stand."""
