"""The source: the report's search as it was, and its figures.

What the report has must stay as it is, errors included; drawing and layout may be changed. A better
search belongs in gaits/.
"""
