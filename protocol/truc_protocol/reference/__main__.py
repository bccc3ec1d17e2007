"""`python -m truc_protocol.reference DIR` writes the pages of docs/protocol."""

import sys
from pathlib import Path

from truc_protocol.reference.pages import write

write(Path(sys.argv[1]))
