"""`python -m truc_docs.protocol DIR` writes the pages of docs/protocol."""

import sys
from pathlib import Path

from truc_docs.protocol.pages import write

write(Path(sys.argv[1]))
