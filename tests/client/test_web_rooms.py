"""The screens of the page around the table: what they show, in Node, and as a player meets them in a browser."""

import subprocess
from pathlib import Path

from clients_elsewhere.programs import NODE, needs_node


@needs_node
def test_pure_parts_of_the_screens():
    done = subprocess.run(
        [NODE, "--test", str(Path(__file__).parent / "web_rooms.mjs")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
