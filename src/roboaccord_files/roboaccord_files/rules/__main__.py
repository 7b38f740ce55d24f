"""Write the page of all rules: python -m roboaccord_files.rules > docs/every_rule.md."""

import sys

from roboaccord_files.rules.table import page

sys.stdout.write(page())
