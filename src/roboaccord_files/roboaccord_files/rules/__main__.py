"""Write the page of all rules: python -m roboaccord_files.rules > docs/every_rule.md.

Its text is in rules.yaml and table.py; test_rules.py fails where the page is another.
"""

import sys

from roboaccord_files.rules.table import page

sys.stdout.write(page())
