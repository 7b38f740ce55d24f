"""The source: the description's own method, its accuracy, and its pictures.

The source's method must stay, errors included; looks of pages may be changed (pages.py). A better
scheme goes into rolling/.
"""
