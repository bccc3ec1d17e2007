"""A spectator: python spectator.py ADDRESS HOME [TABLE]; watches a match to its end and checks all of it."""

import sys

import trio

from truc_client import (
    MatchEnded,
    Player,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SnapshotTaken,
    TableChanged,
    connect,
    open_home,
)

SPECTATORS = 8  # the place of that term in `opts`, which every table is shown with


async def find_match(server):
    """Wait in the lobby for a table where a match is played, or will be, that may be watched."""
    lobby = await server.lobby()
    print("waiting for a match")
    while True:
        match await anext(lobby):
            case TableChanged(state) if state.state != "over" and state.opts[SPECTATORS]:
                return state.table


async def watch(table):
    print("watching", table.code)
    async for happening in table:
        match happening:
            case SnapshotTaken(k=k, view=view):
                print("it goes on with record", k, "score, not checked yet:", view.get("score"))
            case Resumed(k):
                print("checked: every record before", k)
            case RecordSeen(k=k, means=means):
                print(k, *(fact["what"] for fact in means[:-1]))
            case RecordUnchecked(k=k, means=means):
                print(k, "unchecked:", *(fact["what"] for fact in means[:-1]))
            case MatchEnded(verdict, transcript):
                print(verdict.result, "won by side", verdict.winner, transcript)
                return


async def main(address, home, code=None):
    async with connect(address, Player(open_home(home), "spectator")) as server:
        await watch(await server.watch(code or await find_match(server)))


trio.run(main, *sys.argv[1:])
