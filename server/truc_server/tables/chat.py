"""What is said at one table, to whom it goes, and how much of it latecomers are sent.

None of it is a record. A line has its number for good; everybody who follows the table is sent the lines in the order
of their numbers, none of them twice on one connection, and none from a player they ignore. Where watchers are shown a
match late, they get the lines just as late. Invariant: only the newest lines of a table are kept here, and no line is
told that is not in the journal.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import ChatLine
from truc_protocol.wire.connection import broadcast_frame
from truc_server.net.peer import Peer, RefusedError
from truc_server.settings.abilities import CHAT_CHARS
from truc_server.spectating.spectator_feed import SpectatorFeed
from truc_server.storage import KEPT_LINES, SaveChat
from truc_server.timing.clock import Alarm, Timers, now_ms

_JOINERS: Final = "\u200c\u200d"  # some scripts, and some pictures, cannot be written without them


class DueLine(NamedTuple):
    """A line, and the moment of Trio's clock from which watchers may have it."""

    line: SaveChat
    due: float


class TableChat:
    """The chat of one table."""

    def __init__(self, table: str, feed: SpectatorFeed, timers: Timers) -> None:
        self._table = table
        self._feed = feed
        self._audience = feed.audience
        self._kept: list[DueLine] = []
        self._told: dict[Peer, int] = {}  # for each connection, the first number it has not been sent
        self._alarm = Alarm(timers, self._tell_due)
        self.next = 0

    def restore(self, lines: Iterable[SaveChat], *, following: int) -> None:
        """Take lines that are already in the store, oldest first; `following` is the number after all of them."""
        now, clock_ms = trio.current_time(), now_ms()
        for line in lines:
            age_s = max(0, clock_ms - line.at_ms) / 1000
            self._keep(line, now - age_s + self._feed.delay_s)
        self.next = following
        self._set_alarm()

    def add(self, line: SaveChat) -> None:
        """Take the next line and tell it to everybody who follows the table, late where matches are shown late."""
        followers = self._audience.followers()
        for peer in followers:
            self.catch_up(peer)
        late = self._feed.delay_s if self._feed.holds_back else 0
        kept = self._keep(line, trio.current_time() + late)
        frame = broadcast_frame(_message(line))
        for peer in followers:
            if self._may_have(peer, kept):
                self._told[peer] = self.next
                if line.tag not in peer.ignored:
                    peer.send_frame(frame)
        self._set_alarm()

    def _keep(self, line: SaveChat, due: float) -> DueLine:
        """Keep a line as the newest; none is due before an older one."""
        kept = DueLine(line, max(due, self._kept[-1].due) if self._kept else due)
        self._kept.append(kept)
        del self._kept[:-KEPT_LINES]
        self.next = line.n + 1
        return kept

    def _may_have(self, peer: Peer, kept: DueLine) -> bool:
        return self._audience.is_inside(peer) or kept.due <= trio.current_time()

    def catch_up(self, peer: Peer) -> None:
        """Send a connection, if it follows, those of the newest lines that it has not been sent."""
        if not self._audience.is_following(peer):
            return
        first, clock_ms = self._told.get(peer, 0), now_ms()
        for kept in self._kept:
            line = kept.line
            if line.n < first:
                continue
            if not self._may_have(peer, kept):
                break
            self._told[peer] = line.n + 1
            if line.tag not in peer.ignored:
                peer.send(_message(line, ago_ms=max(0, clock_ms - line.at_ms)))

    def _tell_due(self) -> None:
        for peer in self._audience.followers():
            self.catch_up(peer)
        self._set_alarm()

    def _set_alarm(self) -> None:
        now = trio.current_time()
        self._alarm.set(next((kept.due for kept in self._kept if kept.due > now), None))

    def stop(self) -> None:
        """Stop the alarm."""
        self._alarm.set(None)

    def drop(self, peer: Peer) -> None:
        """Forget a connection that has ended."""
        self._told.pop(peer, None)

    def forget(self, player: bytes) -> None:
        """Forget what a player has said; its numbers are not used again."""
        self._kept = [kept for kept in self._kept if kept.line.player != player]


def cleaned(text: str) -> str:
    """Return a line of chat as it is told: in Unicode's form NFC, without spaces around it.

    Raises:
        RefusedError: It is then empty or too long, or holds what cannot be shown or changes how the rest is shown.
    """
    line = unicodedata.normalize("NFC", text).strip()
    if not 1 <= len(line) <= CHAT_CHARS or not all(map(_may_stand, line)) or all(c in _JOINERS for c in line):
        message = f"text: expected one line of 1 to {CHAT_CHARS} printable characters"
        raise RefusedError(Code.BAD_MESSAGE, message, field="text")
    return line


def _may_stand(character: str) -> bool:
    return character.isprintable() or character in _JOINERS


def _message(line: SaveChat, ago_ms: int | None = None) -> ChatLine:
    return ChatLine(
        table=line.table,
        n=line.n,
        player=line.tag,
        name=line.name,
        seat=line.seat,
        text=line.text,
        ago_ms=ago_ms,
    )
