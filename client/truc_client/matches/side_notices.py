"""What is said at a table beside its match: phrases and chat, who is away, that the server is about to stop."""

from collections.abc import Callable
from typing import assert_never

from truc_client.happenings import Away, Happening, PhraseSaid, ServerDraining
from truc_client.lobby import chat_said
from truc_client.matches.seatmatch import SeatMatch
from truc_protocol.messages import Away as AwayNotice
from truc_protocol.messages import ChatLine, Draining, Said

Aside = Said | ChatLine | AwayNotice | Draining


class Beside:
    """What one table hears; lines of chat that a server repeats on a new connection are told once."""

    def __init__(self, say: Callable[[Happening], None]) -> None:
        self._say = say
        self._newest = -1  # line of the chat

    def hear(self, aside: Aside, match: SeatMatch | None) -> None:
        """Tell what was said; `match` is the one followed now."""
        match aside:
            case Said():
                self._say(PhraseSaid(aside.seat, aside.phrase))
            case ChatLine():
                self._chat(aside)
            case AwayNotice():
                self._tell_away(aside, match)
            case Draining():
                self._say(ServerDraining(aside.left_ms))
            case _:
                assert_never(aside)

    def _chat(self, line: ChatLine) -> None:
        """Tell a line of chat that is news: they have ascending numbers."""
        if line.n is None or line.n > self._newest:
            self._newest = self._newest if line.n is None else line.n
            self._say(chat_said(line))

    def _tell_away(self, away: AwayNotice, match: SeatMatch | None) -> None:
        """Tell who is away; once the match is over nobody is, whatever notices were still on their way."""
        if match is None or match.mid != away.match or not match.is_over:
            self._say(Away(away.seat, away.online, away.missed, away.claim_in_ms))
