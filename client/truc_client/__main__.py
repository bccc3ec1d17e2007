"""`python -m truc_client` is `truc`."""

from truc_client.main import main

main(prog_name="truc")
