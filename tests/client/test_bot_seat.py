"""Where a bot sits down that was told no table."""

from types import SimpleNamespace

import pytest

from truc_client.errors import ClientError, RefusedError
from truc_terminal.commands.bot import join_any


class Lobby:
    """A server whose list of tables is older than what has become of them."""

    def __init__(self, **tables: str) -> None:
        self._tables = tables

    async def tables(self) -> list[SimpleNamespace]:
        seats = (SimpleNamespace(kind="key"), SimpleNamespace(kind="empty"))
        return [SimpleNamespace(table=code, state="open", seats=seats) for code in self._tables]

    async def join(self, code: str) -> str:
        if self._tables[code] != "free":
            raise RefusedError(self._tables[code], "")
        return code


async def test_seats_that_were_taken_meanwhile_are_passed_over_and_other_refusals_are_told() -> None:
    assert await join_any(Lobby(A="table_full", B="no_such_table", C="free", D="free")) == "C"
    with pytest.raises(ClientError, match="no public table has a free seat"):
        await join_any(Lobby(A="table_not_open"))
    with pytest.raises(RefusedError):
        await join_any(Lobby(A="guests_not_allowed", B="free"))
