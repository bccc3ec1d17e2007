"""A real server that dies at one exact point: `python -m chaos.dying --at after:SaveMatch:1 run --data FOLDER`.

It is `truc-server` with a store that kills the process, or with a goodbye that does. Invariant: up to that point it
is the server that hosts run.
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import click
from chaos.faulty_store import Fault, FaultyStore, Point, die

from truc_server import main as server
from truc_server.net.connections import Connections
from truc_server.storage import sql

GOODBYE = "goodbye"


class Place(NamedTuple):
    """Where to die: a point of the n-th write of a name, as in `before:AddRecord:17`."""

    point: Point
    what: str
    n: int

    @classmethod
    def read(cls, text: str) -> "Place":
        """Read what the command line says."""
        point, what, n = text.split(":")
        return cls(Point(point), what, int(n))


def open_faulty(url: str, *, opened_by, places: Sequence[Place], **how) -> FaultyStore:
    """Open a real store, and let it die at these places."""
    return FaultyStore(opened_by(url, **how), [Fault(*place, do=die) for place in places])


@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@click.option(
    "--at", "places", multiple=True, help="before|middle|after:NAME:N, or goodbye; may be repeated."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def main(places: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    """Run a server that dies at these places; what else is said is said to truc-server."""
    if GOODBYE in places:
        Connections.dismiss = lambda *_: die()
    wanted = [Place.read(place) for place in places if place != GOODBYE]
    sql.open_store = partial(open_faulty, opened_by=sql.open_store, places=wanted)
    server.main(arguments, prog_name="truc-server")


if __name__ == "__main__":
    sys.exit(main())
