"""Print the page of all rules: python -m roboaccord_files.rules > docs/every_rule.md.

The texts are in rules.yaml and table.py; test_rules.py compares the page with what this prints.
"""

import sys

from roboaccord_files.rules.table import page

sys.stdout.write(page())
