"""`python -m truc_docs.schema --check DIR`, or `--accept DIR`."""

import sys

from truc_docs.schema.files import main

sys.exit(main())
