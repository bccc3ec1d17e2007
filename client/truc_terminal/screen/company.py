"""The people at a table, as a player is told: who sits and talks there, who is away, and whether they pause.

There is one line for each change, none if nothing is new; those who are called alike are told apart. About their own seat players
are told what they have missed, but not that they are away: they know that themselves.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_client.happenings import ChatSaid, Fact, PresenceChanged
from truc_protocol.messages import TableState
from truc_protocol.setup import GONE_FORFEIT, GONE_WAIT, read_opts
from truc_terminal.verdicts import quoted
from truc_words import Sentence, shown_name

_MOST_HEARD: Final = 50  # speakers whose names are remembered
_TAG_LETTERS: Final = 4
_GUEST: Final = "guest-"  # how the tag of a guest begins
_UNHEARD: Final[Mapping[str | None, str]] = MappingProxyType({})


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
    heard: Mapping[str | None, str] = _UNHEARD

    def after(self, state: TableState) -> "Company":
        """Return the company after the table was shown."""
        sitting = [seat for seat in state.seats if seat.name is not None]
        names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in sitting)
        seated = Sentence("screen.seated", table=state.table, taken=len(sitting), seats=state.n, names=names)
        news = self.news if seated == self.seated else seated
        return self._replace(state=state, seated=seated, news=news if state.state in ("open", "over") else "")

    def hear(self, said: ChatSaid) -> "Company":
        """Return the company after somebody has talked."""
        # Bounded: one after the other may come and talk, each under another name.
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


_BY_OPPONENTS: Final = "opponents"

_NONE_AWAY: Final[Mapping[int, PresenceChanged]] = MappingProxyType({})


class ScreenNote(NamedTuple):
    """A line of the catalogue, with the values it may contain."""

    key: str
    missed: int
    left_s: float


class Absences(NamedTuple):
    """What was last told of each seat's absence, and whether a match whose other side is gone ends by a claim."""

    told: Mapping[int, PresenceChanged] = _NONE_AWAY
    is_claimed: bool = False

    def shown(self, state: TableState) -> "Absences":
        """Return these absences after the table was shown."""
        return self._replace(is_claimed=_ends_by_claim(state))

    def after(self, away: PresenceChanged) -> "Absences":
        """Return these absences after a change was told."""
        return self._replace(told=MappingProxyType({**self.told, away.seat: away}))

    def note(self, away: PresenceChanged, own: int | None) -> ScreenNote | None:
        """Return the line that tells a change, before it is noted, to the player of `own`; None if it is no news."""
        before = self.told.get(away.seat)
        if before is not None and _sight(before) == _sight(away):
            return None
        return _own_note(before, away) if away.seat == own else _note(before, away)

    def may_claim(self, away: PresenceChanged, own: int | None) -> bool:
        """Tell whether the seat `own` may claim the match from a seat that is gone: sides sit alternately."""
        return self.is_claimed and _is_gone(away) and own is not None and (away.seat - own) % 2 == 1


def _ends_by_claim(state: TableState) -> bool:
    """Tell whether a match whose other side is gone ends only by a claim: not by the server, nor by a substitute."""
    opts = read_opts(state.opts)
    # play.md, "What follows": only then does the server itself end the match against a side that is gone.
    is_ruled = opts.decision_ms > 0 and opts.gone_after > 0 and state.claim != _BY_OPPONENTS
    return opts.gone == GONE_WAIT or (opts.gone == GONE_FORFEIT and not is_ruled)


def _note(before: PresenceChanged | None, away: PresenceChanged) -> ScreenNote | None:
    if away.online and not away.missed:
        return None if before is None else ScreenNote("back", 0, 0)
    if _is_gone(away):
        return ScreenNote("gone", away.missed, 0)
    return _counting("missing" if away.online else "away", away)


def _own_note(before: PresenceChanged | None, away: PresenceChanged) -> ScreenNote | None:
    if _is_gone(away):
        return ScreenNote("own_gone", away.missed, 0)
    if not away.missed:
        return None if before is None or not _is_gone(before) else ScreenNote("own_back", 0, 0)
    return _counting("own_missing", away)


def _counting(key: str, away: PresenceChanged) -> ScreenNote:
    """Return a line with the time left, if there is a limit."""
    if away.claim_in_ms is None:
        return ScreenNote(key, away.missed, 0)
    return ScreenNote(f"{key}_counting", away.missed, away.claim_in_ms / 1000)


def _is_gone(away: PresenceChanged) -> bool:
    return away.claim_in_ms == 0


def _sight(away: PresenceChanged) -> tuple[bool, int, bool]:
    """Return the part of an absence whose change is news; the passing of time is not."""
    return away.online, away.missed, _is_gone(away)


class PauseState(NamedTuple):
    """How a pause stands for one seat: whether the match rests, and whether this seat and others ask to change that."""

    seat: int | None
    rests: bool = False
    has_asked: bool = False
    others_ask: bool = False

    @property
    def awaits(self) -> bool:
        """Whether the match rests and this seat has not asked to go on."""
        return self.rests and self.seat is not None and not self.has_asked

    @property
    def is_called(self) -> bool:
        """Whether another seat has asked and this one has not joined in."""
        return self.others_ask and self.seat is not None and not self.has_asked


def pause_after(before: PauseState, fact: Fact) -> PauseState:
    """Return how a pause stands after a fact."""
    match fact["what"]:
        case "pause_asked" | "resume_asked" if fact["seat"] == before.seat:
            return before._replace(has_asked=True)
        case "pause_asked" | "resume_asked":
            return before._replace(others_ask=True)
        case "state":
            return _stated(before, rests=fact.get("paused", False))
        case "hand_closed":
            return before._replace(has_asked=False, others_ask=False)
        case _:
            return before


def _stated(before: PauseState, *, rests: bool) -> PauseState:
    return (
        before if rests == before.rests else before._replace(rests=rests, has_asked=False, others_ask=False)
    )
