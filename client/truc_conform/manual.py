"""The pages for `man` of `truc-conform`: `python -m truc_conform.manual FOLDER`."""

import sys
from pathlib import Path

from truc_commands.manual import pages, write_pages
from truc_conform.main import main

if __name__ == "__main__":
    write_pages(pages(main, "truc-conform"), Path(sys.argv[1]))
