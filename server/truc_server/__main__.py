"""`python -m truc_server` is `truc-server`."""

from truc_server.main import main

main(prog_name="truc-server")
