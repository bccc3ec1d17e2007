"""The pages for `man` of `truc`, one for each command and language: `python -m truc_terminal.manual FOLDER`.

Invariant: a page says only what the command or its translation says, so that they cannot drift apart.
"""

from pathlib import Path
from typing import Final

import click

from truc_commands import manual
from truc_terminal.commands.helping import click_in, help_in, translated
from truc_terminal.main import main
from truc_words import ENGLISH, LANGUAGES

_PROGRAM: Final = "truc"
_FOLDER: Final = f"man{manual.SECTION}"


def pages(lang: str = "en") -> dict[str, str]:
    """Return every page in a language by its file name: that of `truc`, then those of its commands."""
    with click_in(lang):
        return manual.pages(translated(main, lang), _PROGRAM, help_in(lang).manual)


def write(folder: Path) -> None:
    """Write every page where `man` looks for it under a folder: English at the top, the others by language."""
    for lang in LANGUAGES:
        manual.write_pages(pages(lang), folder / _FOLDER if lang == ENGLISH.lang else folder / lang / _FOLDER)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def _write(folder: Path) -> None:
    """Write the pages of truc, in every language, where man looks for them under a FOLDER."""
    write(folder)


if __name__ == "__main__":
    _write()
