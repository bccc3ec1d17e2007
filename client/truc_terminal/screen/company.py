"""Who sits at a table and who talks there: whether who sits there is news, and what tells those apart who are called alike."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_client.happenings import ChatSaid
from truc_protocol.messages import TableState
from truc_terminal.verdicts import quoted
from truc_words import Sentence, shown_name

_MOST_HEARD: Final = 50  # speakers whose names are remembered
_TAG_LETTERS: Final = 4
_GUEST: Final = "guest-"  # how the tag of a guest begins
_NOBODY: Final[Mapping[str | None, str]] = MappingProxyType({})


class Company(NamedTuple):
    """The people at one table.

    Attributes:
        state: the table as last shown.
        seated: who sits there, as a line.
        news: that line if it has changed since a match was played, and has not been said.
        heard: the names of those who have talked, by tag.
    """

    state: TableState | None = None
    seated: str = ""
    news: str = ""
    heard: Mapping[str | None, str] = _NOBODY

    def after(self, state: TableState) -> "Company":
        """Return the company after the table was shown."""
        sitting = [seat for seat in state.seats if seat.name is not None]
        names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in sitting)
        seated = Sentence("screen.seated", table=state.table, taken=len(sitting), seats=state.n, names=names)
        news = self.news if seated == self.seated else seated
        return self._replace(state=state, seated=seated, news=news if state.state in ("open", "over") else "")

    def hear(self, said: ChatSaid) -> "Company":
        """Return the company after somebody has talked."""
        heard = dict([*self.heard.items(), (said.player, said.name)][-_MOST_HEARD:])
        return self._replace(heard=MappingProxyType(heard))

    def speaker(self, said: ChatSaid) -> str:
        """Return who says something; where another has a name like theirs, with the first letters of their tag."""
        seats = () if self.state is None else self.state.seats
        names = {**{seat.player: seat.name or "" for seat in seats}, **self.heard}
        shown, alike = quoted(said.name), said.name.strip().casefold()
        if all(tag == said.player or name.strip().casefold() != alike for tag, name in names.items()):
            return shown
        return f"{shown} ({said.player.removeprefix(_GUEST)[:_TAG_LETTERS]})"
