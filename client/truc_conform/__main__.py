"""`python -m truc_conform` is `truc-conform`."""

from truc_conform.main import main

main(prog_name="truc-conform")
