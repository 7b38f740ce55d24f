"""Commands that are added to `accord packbot`, one a module, and the mode `look --hulls`."""
