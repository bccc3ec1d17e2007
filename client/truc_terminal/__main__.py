"""`python -m truc_terminal` is `truc`."""

from truc_terminal.main import main

main(prog_name="truc")
