"""Colours of pictures and pages."""

INK, SOFT, RULE, PAGE = "#1d2430", "#5d6878", "#d5dae1", "#ffffff"
BLUE, RED, GREEN, AMBER = "#3366cc", "#d1495b", "#12a594", "#ffb000"
EMPTY = "#e3e7ec"  # of a map, where there is no value
