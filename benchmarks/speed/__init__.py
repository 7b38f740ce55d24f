"""Speed of this project beside its peers, in pairs: `make speed`."""
