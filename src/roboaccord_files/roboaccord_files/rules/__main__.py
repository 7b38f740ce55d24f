"""Write the page of all rules: python -m roboaccord_files.rules > docs/every_rule.md.

Its text may be changed in rules.yaml and table.py; the page must be what this writes
(test_rules.py).
"""

import sys

from roboaccord_files.rules.table import page

sys.stdout.write(page())
