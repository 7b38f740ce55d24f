"""The roller sphere beyond figures 3 of the paper: claims, surveys of rigs, contact in engines."""
