"""Campaigns: `make hashes`, `sound`, `planted`, `settings` and others, of many runs each."""
