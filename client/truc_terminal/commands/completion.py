"""The values of parameters that a shell completes.

No server is asked, and nothing is written: a home that does not exist is not created.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem

from truc_client.errors import ClientError, HomeError
from truc_commands.completion import Values, complete_values
from truc_rules import presets
from truc_terminal.commands.kept_matches import KeptFile, kept_files, own_transcripts
from truc_terminal.commands.server_lookup import known_servers
from truc_terminal.commands.table_options import OPTION_NAMES
from truc_words import LANGUAGES


def _options() -> Iterator[str]:
    return (f"{name}=" for name in OPTION_NAMES)


def _known_servers() -> tuple[str, ...]:
    """Return the servers that this home knows; none if the home cannot be read."""
    try:
        return tuple(address.server for address in known_servers())
    except ClientError:
        return ()


def _own_matches() -> Iterator[CompletionItem]:
    """Yield the matches of this home by the first digits of their ids, newest first, each with its date."""
    try:
        kept = kept_files(own_transcripts())
    except HomeError:
        return
    newest: dict[str, KeptFile] = {}
    for each in kept:
        newest.setdefault(each.match, each)
    for each in newest.values():
        yield CompletionItem(each.match, help=each.written.strftime("%Y-%m-%d %H:%M"))


_VALUES: Final[Mapping[str, Values]] = {
    "address": _known_servers,
    "files": _own_matches,
    "game": presets,
    "lang": lambda: LANGUAGES,
    "match": _own_matches,
    "options": _options,
    "server": _known_servers,
    "variant": presets,
}
"""The possible values of a parameter, by its name, in whichever command."""

_OR_FILE: Final = ("files", "game", "match")
"""Parameters that may also be the name of a file."""


def complete_known_values(command: click.Command) -> None:
    """Let a shell complete every parameter of a command whose values are known."""
    complete_values(command, _VALUES, or_file=_OR_FILE)
