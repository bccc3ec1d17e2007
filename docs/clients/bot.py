"""A bot: python bot.py ADDRESS HOME; takes a seat at any table of the game and plays one match."""

import sys

import trio

from truc_client import Player, connect, open_home, play_match


async def main(address, home):
    async with connect(address, Player(open_home(home), "my bot")) as server:
        table = await server.seek("truc-french", options={"match": 1})
        await table.ready()
        print((await play_match(table, lambda turn: turn.options[0])).verdict.result)
        await table.leave()


trio.run(main, *sys.argv[1:])
