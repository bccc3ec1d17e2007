"""The commands of `truc-server`, called in the process of the test."""

from pathlib import Path

from click.testing import CliRunner, Result

from truc_server.main import main
from truc_server.settings.folder import Folder


def call(data: Folder | Path, command: str, *arguments: object, asked: str | None = None) -> Result:
    """Call a command of one word or several on a data folder; `asked` is what stands on its standard input."""
    root = data.root if isinstance(data, Folder) else data
    words = [*command.split(), "--data", str(root), *map(str, arguments)]
    return CliRunner().invoke(main, words, prog_name="truc-server", input=asked)
