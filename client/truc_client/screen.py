"""The player's screen, line by line: what happened in words, the table before each decision, the options with numbers.

On a terminal with colours and suit symbols, else in plain text that a script or a screen reader can use; in the player's
language, with the words of the game. Text that came from other players is never read as markup.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import assert_never

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from truc_client.board import (
    Board,
    after,
    answering,
    with_cards,
    with_options,
    with_partner,
    with_sign,
)
from truc_client.drawing import Setting, score_line, table_text
from truc_client.faces import Faces, faces_of, short
from truc_client.happenings import (
    CardsDealt,
    Fact,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    PartnerCards,
    PhraseSaid,
    RecordSeen,
    Resumed,
    SeatTakenOver,
    Signed,
    TableChanged,
    TableClosed,
    Waiting,
    YourTurn,
)
from truc_client.verifying import verdict_lines
from truc_protocol.messages import TableState
from truc_protocol.words import (
    ENGLISH,
    Speech,
    move_label,
    move_meaning,
    phrase_label,
    printable,
    shown_name,
    sign_label,
    tell,
)

_TICK, _PLAIN_TICK = "✓", "ok"


class Screen:
    """Shows one table to one player."""

    def __init__(self, console: Console, lang: str = ENGLISH.lang) -> None:
        self._console = console
        self._seated = ""
        self._offered: tuple[str, ...] = ()
        self._board = Board(0, None)
        self._setting = Setting((), Faces(is_spanish=False, is_plain=True), Speech(lang), 0)

    @property
    def is_plain(self) -> bool:
        """Whether colours and symbols are left out."""
        return not self._console.is_terminal

    @property
    def _speech(self) -> Speech:
        return self._setting.speech

    def say(self, text: str, style: str = "") -> None:
        """Print a line, or several; nothing in them is obeyed by the terminal."""
        for line in text.split("\n"):
            self._console.print(Text(printable(line), style=style), soft_wrap=True)

    def note(self, key: str, style: str = "", **values: object) -> None:
        """Print a line of the catalogue."""
        self.say(self._speech.catalogue.screen[key].format(**values), style)

    def show(self, happening: Happening) -> None:
        """Show what happened."""
        match happening:
            case MatchStarted():
                self._begin(happening)
            case RecordSeen():
                for fact in happening.means:
                    self._tell(fact)
            case CardsDealt() | PartnerCards() | Signed() | PhraseSaid():
                self._receive(happening)
            case YourTurn():
                self._ask(happening)
            case MatchEnded():
                self._end(happening)
            case _:
                self._note(happening)

    def _note(self, happening: Happening) -> None:
        match happening:
            case TableChanged(state):
                self._seat(state)
            case Waiting(seats) if self._setting.names:
                names = self._speech.catalogue.said["and"].join(self._setting.names[seat] for seat in seats)
                self.note("waiting", "dim", seats=names)
            case Interrupted(reason):
                self.note("interrupted", "yellow", reason=reason)
            case Resumed():
                self.note("resumed", "dim")
            case SeatTakenOver():
                self.note("taken_over", "yellow")
            case TableClosed(reason):
                self.note("closed", "yellow", reason=reason)
            case _:
                pass

    def _receive(self, happening: CardsDealt | PartnerCards | Signed | PhraseSaid) -> None:
        match happening:
            case CardsDealt(cards):
                self._board = with_cards(self._board, cards)
            case PartnerCards(seat, cards):
                self._board = with_partner(self._board, seat, cards)
            case Signed(seat, word):
                self._board = with_sign(self._board, seat, word)
                sign = sign_label(word, self._speech.lang, self._speech.words)
                self.note("signed", "magenta", seat=self._name(seat), sign=sign)
            case PhraseSaid(seat, phrase):
                said = phrase_label(phrase, self._speech.lang, self._speech.words)
                self.note("says", "magenta", seat=self._name(seat), phrase=said)
            case _:
                assert_never(happening)

    def _name(self, seat: int) -> str:
        if seat < len(self._setting.names):
            return self._setting.names[seat]
        return self._speech.catalogue.said["seat"].format(n=seat)

    def _seat(self, state: TableState) -> None:
        sitting = [seat for seat in state.seats if seat.name is not None]
        names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in sitting)
        line = self._speech.catalogue.screen["seated"].format(
            table=state.table, taken=len(sitting), seats=state.n, names=names
        )
        if state.state == "open" and line != self._seated:
            self._seated = line
            self.say(line, "dim")

    def _begin(self, started: MatchStarted) -> None:
        names = tuple(shown_name(name, seat) for seat, name in enumerate(started.players))
        faces = faces_of(started.pack, is_plain=self.is_plain)
        speech = Speech(self._speech.lang, started.words)
        self._setting = Setting(names, faces, speech, started.target)
        self._board = Board(len(names), started.seat)
        how = "goes_on" if started.resumed else "begins"
        self.note(how, "bold", variant=started.variant, players=" - ".join(names))
        meaning = speech.catalogue.screen[f"level_{started.level.lower()}"]
        self.note("level", level=started.level, meaning=meaning)

    def _tell(self, fact: Fact) -> None:
        now = {"declined": self._board.stake} if fact["what"] == "stake_asked" else {}
        sentence = tell({**fact, **now}, self._setting.names, self._setting.faces.card, self._speech)
        self._board = after(self._board, fact)
        match fact["what"]:
            case "hands_committed":
                self._show_commitments(fact["digests"])
            case "hands_opened":
                self._tick(fact["cards"])
            case "hand_closed":
                self.note("new_score", "bold", score=score_line(self._board, self._setting))
            case _ if sentence is not None:
                self.say(f"  {sentence}")
            case _:
                pass

    def _show_commitments(self, digests: Sequence[bytes]) -> None:
        committed = "  ".join(
            f"{name} {short(digest)}" for name, digest in zip(self._setting.names, digests, strict=False)
        )
        self.note("committed", "cyan", digests=committed)

    def _tick(self, hands: Sequence[Sequence[str]]) -> None:
        tick = _PLAIN_TICK if self.is_plain else _TICK
        for name, digest, cards in zip_longest(self._setting.names, self._board.digests, hands):
            opened = " ".join(self._setting.faces.card(card) for card in cards or ())
            self.say(f"  {tick} {name} {short(digest or b'')}: {opened}", "green")

    def _ask(self, turn: YourTurn) -> None:
        if turn.again:
            self.note("overtaken", "yellow")
        self._board = with_options(self._board, (choice.line for choice in turn.options))
        offered = tuple(choice.line for choice in turn.options)
        if turn.must:
            self._ask_now(turn)
        elif offered != self._offered:
            self.note("may_act", "dim")
            self._offer(turn)
        self._offered = offered

    def _ask_now(self, turn: YourTurn) -> None:
        title = self._speech.catalogue.screen["your_turn"]
        table = table_text(self._board, self._setting)
        if self.is_plain:
            self.say(f"{title}\n{table}")
        else:
            self._console.print(Panel(table, title=title, expand=False))
        self._offer(turn)
        clock = f" ({turn.deadline_ms // 1000} s)" if turn.deadline_ms else ""
        self.note("prompt", "bold", clock=clock)

    def _offer(self, turn: YourTurn) -> None:
        to = answering(self._board)
        for number, choice in enumerate(turn.options, start=1):
            label = move_label(
                choice.line,
                choice.hints,
                self._setting.faces.card,
                self._speech,
                answering=to,
                players=self._setting.names,
            )
            self.say(f"  {number}. {label}  [{choice.line}]")

    def explain(self, turn: YourTurn) -> None:
        """Explain the options one by one."""
        if not self.is_plain:
            self.note(self._setting.faces.legend, "dim")
        to = answering(self._board)
        for choice in turn.options:
            self.say(f"  {choice.line}: {move_meaning(choice.line, self._speech, answering=to)}")
        self.say(f"  {self._speech.catalogue.screen['explain_end']}")

    def _end(self, ended: MatchEnded) -> None:
        for line in verdict_lines(ended.verdict):
            self.say(line)
