"""The source: the report's search as it was, and its figures.

sampled      the search on the controller's samples, with MATLAB's fminsearch
figures      figures 1 to 10 with their data
diagrams     figures 1 and 2
landscapes   how landscapes are drawn

What the report has must stay as it is, errors included; drawing and layout may be changed. A better
search belongs in gaits/. Tests: test_report_variants, test_figures.
"""
