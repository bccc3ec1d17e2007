"""`truc keys revoke FILE`, then `truc bot URL`, as one client: heeding_bot.py FILE URL."""

import sys

from truc_terminal.main import main

revocation, url = sys.argv[1:]
main(["keys", "revoke", revocation], prog_name="truc", standalone_mode=False)
main(["bot", url], prog_name="truc")
