"""The pages for `man` of `truc-server`: `python -m truc_server.manual FOLDER`."""

import sys
from pathlib import Path

from truc_commands.manual import pages, write_pages
from truc_server.main import main

if __name__ == "__main__":
    write_pages(pages(main, "truc-server"), Path(sys.argv[1]))
