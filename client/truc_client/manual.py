"""The pages for `man` of `truc`: `python -m truc_client.manual FOLDER`."""

import sys
from pathlib import Path

from truc_client.main import main
from truc_commands.manual import write_pages

if __name__ == "__main__":
    write_pages(main, "truc", Path(sys.argv[1]))
