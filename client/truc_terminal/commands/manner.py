"""How a player comes to a table and is spoken to: the options shared by every command that sits down in person."""

from collections.abc import Callable
from typing import Any, Final, TypedDict

import click

from truc_terminal.commands.common import lang_option
from truc_terminal.commands.terminal import color_option, plain_option


class Manner(TypedDict):
    """The values of those options."""

    name: str | None
    guest: bool
    plain: bool
    no_color: bool
    teach: bool


name_option: Final = click.option("--name", help="The name shown to others.")
guest_option: Final = click.option("--guest", is_flag=True, help="Play without a key.")
teach_option: Final = click.option(
    "--teach", is_flag=True, help="Explain why things happen, and what each option means."
)


def manner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all of those options."""
    return name_option(guest_option(lang_option(plain_option(color_option(teach_option(command))))))
