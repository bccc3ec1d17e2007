"""`python -m truc_protocol.schema --check DIR`, or `--accept DIR`."""

import sys

from truc_protocol.schema.files import main

sys.exit(main())
