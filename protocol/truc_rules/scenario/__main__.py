"""`python -m truc_rules.scenario FILE...` plays scenario files."""

import sys

from truc_rules.scenario.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
