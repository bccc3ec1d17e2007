"""What is said at one table: lines of chat, which latecomers are sent too, phrases to everybody, signs to those who may see them.

None of it is a record. A line of chat has its number for good; everybody who follows the table is sent the lines in the order of their
numbers, none of them twice on one connection. Where watchers are shown a match late, they get what is said just as
late. Nobody is told what a player they ignore says. Phrases and signs are not kept, logged or sent again. Invariants:
only the newest lines of a table are kept here, and no line is told that is not in the journal; a sign is checked
against every card, and only the sender learns that it was refused; a word leaves in clear only where the rules show it
to the table, or to a seat that has no box key.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple, assert_never

import trio

from truc_protocol import boxes
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, BoxedSignSeen, ChatLine, OpenSign, OpenSignSeen, Said, Say
from truc_protocol.records import Phase
from truc_protocol.signs import all_see_signs, sign_comes_boxed
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import IllegalActionError, Match, Seat, check_sign, sign_receivers
from truc_server.matches.acceptance import check_position
from truc_server.matches.game import Game
from truc_server.net.peer import Peer, RefusedRequestError, TooSoonError, wrong_field
from truc_server.settings.abilities import CHAT_CHARS
from truc_server.spectating.spectator_feed import SpectatorFeed
from truc_server.storage import KEPT_CHAT_LINES, SaveChat
from truc_server.timing.clock import Alarm, Timers, now_ms
from truc_server.timing.rate_limits import Meter

_JOINERS: Final = "\u200c\u200d"  # some scripts, and some pictures, cannot be written without them
PER_S: Final = 1  # signs of one seat in the long run; phrases likewise
BURST: Final = 5  # at once
_MINUTE_S: Final = 60
# Bytes of a sign from seat to seat: nonce (12), word padded to 256, tag (16). Its length tells nothing.
SEALED_SIGN: Final = 284


class DueLine(NamedTuple):
    """A line, and the moment of Trio's clock from which watchers may have it."""

    line: SaveChat
    due: float


class TableChat:
    """The chat of one table."""

    def __init__(self, feed: SpectatorFeed, timers: Timers) -> None:
        self._feed = feed
        self._audience = feed.audience
        self._kept: list[DueLine] = []
        self._told: dict[Peer, int] = {}  # for each connection, the first number it has not been sent
        self._alarm = Alarm(timers, self._tell_due)
        self.next_number = 0

    def restore(self, lines: Iterable[SaveChat], *, following: int) -> None:
        """Take lines that are already in the store, oldest first; `following` is the number after all of them."""
        now, clock_ms = trio.current_time(), now_ms()
        for line in lines:
            age_s = max(0, clock_ms - line.at_ms) / 1000
            self._keep(line, now - age_s + self._feed.delay_s)
        self.next_number = following
        self._set_alarm()

    def add(self, line: SaveChat) -> None:
        """Take the next line and tell it to everybody who follows the table, late where matches are shown late."""
        # whoever is behind is sent the older lines first: their order is that of the numbers
        followers = self._audience.followers()
        for peer in followers:
            self.catch_up(peer)
        # decision 13: what is said of a match that watchers have not seen yet would tell them how it went
        late = self._feed.delay_s if self._feed.holds_back else 0
        kept = self._keep(line, trio.current_time() + late)
        frame = broadcast_frame(_message(line))
        for peer in followers:
            if self._may_have(peer, kept):
                self._told[peer] = self.next_number
                if line.tag not in peer.ignored:
                    peer.send_frame(frame)
        self._set_alarm()

    def _keep(self, line: SaveChat, due: float) -> DueLine:
        """Keep a line as the newest; none is due before an older one."""
        kept = DueLine(line, max(due, self._kept[-1].due) if self._kept else due)
        self._kept.append(kept)
        del self._kept[:-KEPT_CHAT_LINES]
        self.next_number = line.n + 1
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
            # those behind it wait too: lines are sent in the order of their numbers
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
        self._alarm.stop()

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
        raise wrong_field("text", f"one line of 1 to {CHAT_CHARS} printable characters")
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


class Talk:
    """What the seats of one table say, and how much more each of them may say."""

    def __init__(self, feed: SpectatorFeed, phrases: tuple[str, ...]) -> None:
        self._feed = feed
        self._audience = feed.audience
        self._phrases = phrases
        self._said, self._signed = Meter[int](), Meter[int]()
        self._hand: tuple[bytes, int] | None = None

    def say(self, seat: int, tag: str, message: Say) -> None:
        """Pass a phrase on to everybody at the table, except those who ignore the player with this tag.

        Raises:
            RefusedError: The game has no such phrase, or the seat says too much.
        """
        if message.phrase not in self._phrases:
            expected = " or ".join(self._phrases) or "none, as this game has no phrases"
            raise wrong_field("phrase", expected, Code.ILLEGAL_ACTION)
        _pay(self._said, seat)
        said = Said(table=message.table, seat=seat, phrase=message.phrase)
        self._audience.tell_seats(said, speaker=tag)
        self._feed.say(said, speaker=tag)

    def sign(self, game: Game, seat: int, tag: str, message: BoxedSign | OpenSign) -> None:
        """Pass a sign on to the seats that see it, except those who ignore the player with this tag.

        Raises:
            RefusedError: It cannot be made now, is false where signs must be true, or the seat signs too much.
        """
        match = _rules(game, message.at)
        self._pay_sign(game, seat)
        if game.is_blind:
            self._pass_on(match, game, seat, tag, message)
            return
        word = _word(game, seat, message)
        receivers = _receivers(match, seat, word)
        if isinstance(message, BoxedSign):
            _check_receiver(message, receivers)
        self._show(
            game,
            receivers,
            tag,
            OpenSignSeen(table=message.table, match=game.mid, at=message.at, sender=seat, word=word),
        )

    def _pass_on(self, match: Match, game: Game, seat: int, tag: str, message: BoxedSign | OpenSign) -> None:
        """Pass a sign on that is sealed from seat to seat: in mode blind the server reads none, and so judges no word."""
        if not isinstance(message, BoxedSign):
            raise RefusedRequestError(Code.NOT_NOW, "expected the sign in a box", field="word")
        signals = match.variant.signals
        # who sees a sign does not depend on its word, so any word of the game will do
        receivers = _receivers(match, seat, signals.vocabulary[0] if signals and signals.vocabulary else "")
        _check_receiver(message, receivers)
        if len(message.box) != SEALED_SIGN:
            raise wrong_field("box", f"{SEALED_SIGN} bytes, got {len(message.box)}")
        seen = BoxedSignSeen(table=message.table, match=game.mid, at=message.at, sender=seat, box=message.box)
        peer = self._audience.live_holder(message.to)
        if peer is not None and tag not in peer.ignored:
            peer.send(seen)

    def _pay_sign(self, game: Game, seat: int) -> None:
        # limits.md, "Rates": signs are counted for each hand
        hand = (game.mid, game.ledger.deal_index)
        if hand != self._hand:
            self._hand, self._signed = hand, Meter[int]()
        _pay(self._signed, seat)

    def _show(self, game: Game, receivers: tuple[Seat, ...], tag: str, seen: OpenSignSeen) -> None:
        ledger, audience = game.ledger, self._audience
        for receiver in receivers:
            peer = audience.live_holder(receiver)
            if peer is not None and tag not in peer.ignored:
                peer.send(_boxed(game, receiver, seen) if sign_comes_boxed(ledger, receiver) else seen)
        if all_see_signs(ledger):
            self._feed.note(broadcast_frame(seen), speaker=tag)


def _pay(meter: Meter[int], seat: int) -> None:
    if wait_ms := meter.pay(seat, (_MINUTE_S * PER_S, BURST), trio.current_time()):
        raise TooSoonError(f"expected at most {BURST} at once, then {PER_S} a second", wait_ms)


def _rules(game: Game, at: int) -> Match:
    """Return the rules' state of a hand in which seats may sign at this position."""
    check_position(game, at)
    if game.ledger.pause.active:
        raise RefusedRequestError(Code.PAUSED, "the match is paused")
    match = game.ledger.match
    if match is None or game.ledger.phase is not Phase.HAND:
        raise RefusedRequestError(Code.NOT_NOW, "expected a hand whose cards are dealt")
    return match


def _word(game: Game, seat: int, message: BoxedSign | OpenSign) -> str:
    shared = game.dealer.shared(game.ledger, seat)
    match message:
        case OpenSign(word=word):
            if shared is not None:
                raise RefusedRequestError(Code.NOT_NOW, "expected the sign in a box", field="word")
            return word
        case BoxedSign(at=at, to=to, box=box):
            if shared is None:
                raise RefusedRequestError(
                    Code.NOT_NOW, "expected the sign in clear: this seat has no box key", field="box"
                )
            key = boxes.upward_key(shared, game.mid, seat)
            try:
                return boxes.open_sign_up(key, game.mid, seat=seat, at=at, to=to, box=box)
            except boxes.BoxError as error:
                raise RefusedRequestError(Code.BAD_MESSAGE, f"box: {error}", field="box") from error
        case _:
            assert_never(message)


def _receivers(match: Match, seat: int, word: str) -> tuple[Seat, ...]:
    try:
        check_sign(match, Seat(seat), word)
    except IllegalActionError as error:
        raise RefusedRequestError(Code(error.code), error.message) from error
    return sign_receivers(match, Seat(seat))


def _check_receiver(message: BoxedSign, receivers: tuple[Seat, ...]) -> None:
    if message.to not in receivers:
        expected = " or ".join(f"seat {receiver}" for receiver in receivers)
        raise wrong_field("to", f"{expected}, got {message.to}", Code.ILLEGAL_ACTION)


def _boxed(game: Game, receiver: int, seen: OpenSignSeen) -> BoxedSignSeen:
    box = game.sealer.seal_sign(game.ledger, receiver, seen.sender, seen.word)
    return BoxedSignSeen(table=seen.table, match=seen.match, at=seen.at, sender=seen.sender, box=box)
