"""Reference of a robot that is a file."""
