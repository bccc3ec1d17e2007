"""`truc web`: the table in a browser, by the page that came with this program."""

import os
import sys
import webbrowser
from contextlib import suppress
from functools import partial
from typing import Final

import click
import trio

from truc_client.address import Address
from truc_client.connecting import meet
from truc_client.errors import system_reason
from truc_client.home.home import revoked_keys
from truc_protocol.wire.transport import web_link
from truc_terminal.commands.language import lang_option
from truc_terminal.commands.output import FailedError, tell
from truc_terminal.commands.player import own_player, run
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.terminal import ended_as_by_ctrl_c
from truc_words import Sentence

PORT: Final = 7375
_MOST: Final = 65_535
_WINDOWS: Final = frozenset({"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"})


@click.command()
@click.argument("address", required=False)
@click.option(
    "--port", type=click.IntRange(0, _MOST), default=PORT, show_default=True, help="Port of the page, here."
)
@click.option("--no-browser", is_flag=True, help="Print the link, and open nothing.")
@click.option("--tree", "wants_tree", is_flag=True, help="Print the hash of the page's files, and end.")
@lang_option
def web(*, address: str | None, port: int, no_browser: bool, wants_tree: bool) -> None:
    """Play at ADDRESS in a browser: HOST, HOST:PORT or a truc:// or trucs:// link; with one server known none is needed.

    The page is the one that came with this program, and not the host's: what it says about a deal, it has checked. It is at
    http://localhost:7375, for the browser that opens the link; Ctrl-C ends it.
    """
    # Slow to import, and needed by this command alone.
    from truc_web.tree import read_tree

    tree = read_tree()
    if wants_tree:
        click.echo(tree.name)
        return
    where = server_meant(address)
    with ended_as_by_ctrl_c():
        run(partial(_serve, where, port, opens=not no_browser), partial(Sentence, "commands.web_ended"))


async def _serve(where: Address, port: int, *, opens: bool) -> None:
    # Slow to import, and needed by this command alone.
    from truc_terminal.web_carrier import WebCarrier
    from truc_web.tree import read_tree

    player = own_player()
    met = await meet(where, player)
    listeners = await _listen(port)
    origin = f"http://localhost:{listeners[0].socket.getsockname()[1]}"
    told = ""

    def on_stranger() -> None:
        nonlocal told
        # The same link is told once, however often strangers ask; a new one is there once it has been used.
        if carrier.link != told:
            told = carrier.link
            tell(Sentence("commands.web_stranger", link=told))

    goal = web_link("", where.table, where.invite)
    carrier = WebCarrier(met, origin, read_tree(), goal, on_stranger, revoked=revoked_keys(player.home))
    told = carrier.link
    tell(Sentence("commands.web_page", server=met.address.server))
    tell(Sentence("commands.web_open", link=told))
    async with trio.open_nursery() as tasks:
        if opens:
            tasks.start_soon(open_browser, told)
        await trio.serve_listeners(carrier.serve, listeners)


async def _listen(port: int) -> list[trio.SocketListener]:
    from truc_web.serving.requests import open_loopback

    try:
        return await open_loopback(port)
    except OSError as error:
        raise FailedError(Sentence("commands.web_port", port=port, reason=system_reason(error))) from error


async def open_browser(link: str) -> None:
    """Open a link in the player's browser, if there is one with windows."""
    if sys.platform == "linux" and not _WINDOWS & os.environ.keys():
        return  # a browser for terminals would take this one
    with suppress(webbrowser.Error):
        await trio.to_thread.run_sync(webbrowser.open, link, abandon_on_cancel=True)
