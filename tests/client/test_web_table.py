"""The table in a browser, as the terminal's commands open it: what they say of it, serve and pass on."""

from server.browsers import door

from truc_client.connecting import connect
from truc_client.home.account import Player
from truc_client.home.home import open_home
from truc_terminal.commands.in_person import tell_invite
from truc_terminal.commands.terminal import own_screen


async def test_whoever_opens_a_table_is_told_its_link_for_browsers(tmp_path, capsys):
    for origin in ("", "https://truc.example"):
        async with (
            door(tmp_path / "data", origin=origin) as web,
            connect(f"127.0.0.1:{web.server.port}", Player(open_home(tmp_path), "north")) as server,
        ):
            table = await server.create("truc-french", private=True)
            assert table.web_invite == f"{web.origin}/t/{table.code}"
            tell_invite(table, own_screen(plain=True, no_color=True))
            await table.leave()
        assert f"in a browser: {web.origin}/t/{table.code}\n" in capsys.readouterr().out
