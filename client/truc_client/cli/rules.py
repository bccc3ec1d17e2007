"""`truc rules`: the games, and the rules of one of them."""

import click

from truc_client.cli.common import FailedError
from truc_protocol.rules_page import games, preset_page, summary


@click.command()
@click.argument("name", required=False)
def rules(name: str | None) -> None:
    """List the games, or print the rules of the game NAME."""
    if name is None:
        for game in games():
            click.echo(f"{game:22} {summary(game)}")
        return
    try:
        page = preset_page(name)
    except ValueError as error:
        raise FailedError(f"no such game: {error}") from error
    click.echo(page, nl=False)
