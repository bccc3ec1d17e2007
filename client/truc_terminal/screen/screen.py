"""The player's screen, line by line: what happened in words, the table before each decision, the numbered options.

On a terminal it has colours and suit symbols, else plain text that a script or a screen reader can use. It speaks the
player's language, with the words of the game. Text from other players is never read as markup.
"""

from collections.abc import Iterator, Mapping
from functools import partial, reduce
from typing import TYPE_CHECKING, Final, assert_never

from rich.console import Console
from rich.text import Text

from truc_client.happenings import (
    CardsDealt,
    ChatSaid,
    Fact,
    Happening,
    HostSaid,
    Interrupted,
    MatchContinued,
    MatchEnded,
    MatchStarted,
    MatchWaits,
    MoveChoice,
    PartnerCards,
    PhraseSaid,
    PresenceChanged,
    RecordSeen,
    Resumed,
    SeatLost,
    ServerDraining,
    SignMade,
    Substituted,
    TableChanged,
    TableGone,
    TranscriptSetAside,
    YourTurn,
)
from truc_protocol.messages import TableState
from truc_protocol.records import BLIND
from truc_terminal.replay_model.board import (
    SeatMemory,
    ShownHand,
    board_of,
    remembered,
    with_partner,
    with_score,
    with_sign,
)
from truc_terminal.replay_model.faces import Faces, faces_of
from truc_terminal.screen.company import Absences, Company, PauseState, pause_after
from truc_terminal.screen.drawing import (
    MatchLook,
    committed_text,
    opened_lines,
    score_line,
    sentence,
    sign_of,
    table_text,
)
from truc_terminal.screen.explaining import (
    TABLE,
    AskedAbout,
    explained,
    options_explained,
    terms_in_full,
    terms_line,
)
from truc_terminal.screen.glyphs import needs_ascii
from truc_terminal.screen.lessons import Taught, Teach, teach_nothing
from truc_terminal.screen.markdown import rendered
from truc_terminal.screen.menu import keyed, menu
from truc_terminal.screen.picture import picture, rows_for_table
from truc_terminal.screen.questions import (
    BY_PROGRAMS,
    DrawTable,
    Pose,
    Question,
    WhyNot,
    awaited_text,
    find_choice,
    grouped,
    key_label,
    mistake,
    moves_typed,
    option_names,
    question,
    unnumbered,
)
from truc_terminal.screen.wrapping import say
from truc_terminal.verdicts import level_line, quoted, verdict_lines
from truc_words import Sentence, Speech, as_told, in_language, phrase_label, printable, shown_name, time_label
from truc_words.rules_page import Chapter

if TYPE_CHECKING:
    from truc_rules import View

_MINUTE: Final = 60
_INDENT: Final = "  "
_ALL_SIGN: Final = "A"


class Screen:
    """Shows one table to one player."""

    def __init__(self, console: Console, lang: str = "en", terminal: str = "") -> None:
        self._console = console
        self._has_ascii = self.is_plain or needs_ascii(console.encoding, terminal)
        self._company = Company()
        self._level = ""
        self._offered: tuple[str, ...] = ()
        self._board = ShownHand(0, None)
        self._view: View | None = None
        self._pause = PauseState(None)
        self._absences = Absences()
        self._look = MatchLook((), Faces(is_spanish=False, is_plain=True), Speech(lang), 0)
        self._awaited = ""
        self._asked: Sentence | None = None
        self._question = Question()
        self._is_lost = False
        self._is_over = False
        self.pose: Pose | None = None
        self.teach: Teach = teach_nothing

    @property
    def is_coloured(self) -> bool:
        """Whether colours are wanted."""
        return not self._console.no_color

    @property
    def is_plain(self) -> bool:
        """Whether colours and symbols are left out."""
        return not self._console.is_terminal

    @property
    def lang(self) -> str:
        """The language in which the player is spoken to."""
        return self._speech.lang

    @property
    def look(self) -> MatchLook:
        """What stays the same in the match."""
        return self._look

    @property
    def board(self) -> ShownHand:
        """The table as it stands."""
        return self._board

    def _remember(self, memory: SeatMemory) -> None:
        """Draw the table anew from the newest view, with what is remembered beside it."""
        if self._view is None:
            self._board = self._board._replace(memory=memory)
        else:
            self._board = board_of(self._view, self._look.pack, memory)

    @property
    def _speech(self) -> Speech:
        return self._look.speech

    def say(self, text: str, style: str = "") -> None:
        """Print one or more lines in the player's language, wrapped between words on a terminal.

        Nothing in them can control the terminal.
        """
        for line in in_language(text, self.lang, self._look.speech.words).split("\n"):
            say(self._console, line, style)

    def note(self, key: str, style: str = "", **values: object) -> None:
        """Print a line of the catalogue."""
        self.say(Sentence(f"screen.{key}", **values), style)

    def ask(self, key: str, **values: object) -> None:
        """Ask something beside a match: at the prompt, if there is one, until it is answered; else by a line."""
        self._asked = Sentence(f"screen.{key}", **values)
        self._ask_beside()

    def answered(self) -> None:
        """Note that what was asked is answered."""
        self._asked = None
        self.set_question(Question())

    def _ask_beside(self) -> None:
        if self._asked is not None and self.pose is None:
            self.say(self._asked, "bold")
        elif self._asked is not None:
            self.set_question(Question(text=printable(in_language(self._asked, self.lang))))

    def set_question(self, question: Question) -> None:
        """Have the prompt, if there is one, ask this; while the connection is lost it says that first of all."""
        self._question = question
        if self.pose is None:
            return
        if self._is_lost:
            question = question._replace(text=f"{self._speech.say('screen.lost')} >")
        self.pose(question)

    def lose(self, notice: Sentence) -> None:
        """Tell that the connection is lost, once for all the times that it is lost again before anything comes of it."""
        if not self._is_lost:
            self.say(notice, "yellow")
        self.note_line(is_lost=True)

    def note_line(self, *, is_lost: bool) -> None:
        """Note whether the connection is lost; when it is back, ask again what is asked."""
        is_back, self._is_lost = self._is_lost and not is_lost, is_lost
        self.set_question(self._question)
        if is_back and self.pose is None:
            self._ask_beside()

    def show(self, happening: Happening) -> None:
        """Show what happened."""
        match happening:
            case MatchStarted():
                self._begin(happening)
            case RecordSeen():
                self._tell_record(happening)
            case MatchContinued():
                self._recall(happening)
            case CardsDealt() | PartnerCards() | SignMade() | PhraseSaid():
                self._receive(happening)
            case YourTurn():
                self._ask(happening)
            case MatchEnded():
                self._is_over = True
                self.offer(None)  # so that the verdict does not stand above the empty place of the table
                self.say("\n".join(verdict_lines(happening.verdict, self._speech)))
                self._say_seated()
            case _:
                self._note(happening)

    def _note(self, happening: Happening) -> None:
        match happening:
            case TableChanged(state):
                self._seat(state)
            case MatchWaits() if self._look.names:
                self._await(happening)
            case Substituted(seat, name):
                self._rename(seat, name)
            case ChatSaid():
                self.say(f"{self._company.speaker(happening)}: {happening.text}", "cyan")
                self._company = self._company.hear(happening)
            case SeatLost():
                self.note("taken_over", "yellow")
            case TableGone():
                self.note("closed", "yellow", reason=happening.why)
            case _:
                self._note_line(happening)

    def _await(self, waiting: MatchWaits) -> None:
        """Tell who is waited for; at the prompt, if there is one, until there is news."""
        if waiting.what in BY_PROGRAMS:
            others = tuple(seat for seat in waiting.seats if seat != self._board.seat)
            if not others:
                return  # one's own program does it at once
            waiting = waiting._replace(seats=others)
        before, self._awaited = self._awaited, awaited_text(waiting, self._look)
        if waiting.what == "decision":
            self._mark(waiting.seats)
        if self.pose is None and self._awaited != before:
            self.say(self._awaited, "dim")

    def _mark(self, seats: tuple[int, ...]) -> None:
        """Mark who decides as the server says: while flores are declared the records leave it open."""
        self._board = self._board._replace(acting=seats)

    def _note_line(self, happening: Happening) -> None:
        match happening:
            case Interrupted(reason):
                self.lose(Sentence("screen.interrupted", reason=reason))
            case TranscriptSetAside(path, reason):
                self.note("set_aside", "yellow", path=path, reason=reason)
            case Resumed():
                self.note("resumed", "dim")
                self.note_line(is_lost=False)
            case PresenceChanged():
                self._tell_away(happening)
            case ServerDraining(left_ms):
                self.note("draining", "yellow", time=time_label(left_ms / 1000))
            case HostSaid(text):
                self.note("host_says", "yellow", text=quoted(text))
            case _:
                pass

    def _receive(self, happening: CardsDealt | PartnerCards | SignMade | PhraseSaid) -> None:
        match happening:
            case CardsDealt(cards):
                self._remember(self._board.memory._replace(own=cards))
            case PartnerCards(seat, cards):
                self._remember(with_partner(self._board.memory, seat, cards))
            case SignMade(seat, word):
                self._remember(with_sign(self._board.memory, seat, word))
                self.note("signed", "magenta", seat=self._name(seat), sign=sign_of(word, self._look))
            case PhraseSaid(seat, phrase):
                said = phrase_label(phrase, self._speech.lang, self._speech.words)
                self.note("says", "magenta", seat=self._name(seat), phrase=said)
            case _:
                assert_never(happening)

    def _tell_away(self, away: PresenceChanged) -> None:
        note, self._absences = self._absences.note(away, self._board.seat), self._absences.after(away)
        if note is None:
            return
        values = {"time": time_label(note.left_s), "missed": note.missed}
        self.note(note.key, "yellow", name=self._name(away.seat), **values)
        if self._absences.may_claim(away, self._board.seat):
            self.note("may_claim", "yellow")

    def _rename(self, seat: int, name: str) -> None:
        names = self._look.names
        shown = shown_name(name, seat)
        self._look = self._look._replace(names=(*names[:seat], shown, *names[seat + 1 :]))
        self.note("steps_in", "yellow", name=shown)

    def show_score(self) -> None:
        """Show how the match stands."""
        self.note("new_score", "bold", score=score_line(self._board, self._look))

    def _name(self, seat: int) -> str:
        if seat < len(self._look.names):
            return self._look.names[seat]
        return self._speech.say("said.seat", n=seat)

    def _seat(self, state: TableState) -> None:
        self._company, self._absences = self._company.after(state), self._absences.shown(state)
        if not self.knows_game or self._is_over:
            self._say_seated()
        if self._is_lost and state.state != "playing":  # in a match records may still be missing
            self._note_line(Resumed(0))

    def _say_seated(self) -> None:
        """Say who sits at the table, if that is news; the server shows it before the verdict on a match, which comes first."""
        news, self._company = self._company.news, self._company._replace(news="")
        if news:
            self.say(news, "dim")

    def _begin(self, started: MatchStarted) -> None:
        names = tuple(shown_name(name, seat) for seat, name in enumerate(started.players))
        speech = Speech(self._speech.lang, started.words)
        faces = faces_of(started.pack, speech, is_plain=self._has_ascii)
        talk = (started.signs, started.phrases)
        self._look = MatchLook(
            names, faces, speech, started.target, *talk, started.raised, started.pack
        )._replace(variant=started.variant, rules=started.rules)
        # Nothing of the match before: at a table another may begin.
        self._board, self._view = ShownHand(len(names), started.seat), None
        self._pause, self._is_over = PauseState(started.seat), False
        self._absences = self._absences._replace(told={})
        how = "goes_on" if started.resumed else "begins"
        self.note(how, "bold", variant=started.variant, players=" - ".join(names))
        self._level = started.level
        if started.mode == BLIND:
            self.note("blind_deal", "dim")
        if started.level != _ALL_SIGN:
            self.note(f"level_{started.level.lower()}", "yellow")
        self.tell_lessons(started)

    def _recall(self, recalled: MatchContinued) -> None:
        self._view = recalled.view
        self._remember(reduce(remembered, recalled.means, self._board.memory))
        self._tell_of_pause(*recalled.means)

    def show_unchecked(self, state: Fact) -> None:
        """Go on from the score that a server says, where no record has been checked: nothing else is drawn of it."""
        self._view, self._board = None, with_score(self._board, state)
        self._tell_of_pause(state)

    @property
    def rests(self) -> bool:
        """Whether the match rests."""
        return self._pause.rests

    @property
    def awaits_resume(self) -> bool:
        """Whether the match rests and this seat has not asked to go on."""
        return self._pause.awaits

    def _tell_record(self, record: RecordSeen) -> None:
        # What programs do with the pack is no news to people: who is waited for stays told.
        if record.kind not in BY_PROGRAMS:
            self._awaited = ""
        # Between two hands there is none: the finished hand stays on the table.
        self._view = record.view or self._view
        self._remember(reduce(remembered, record.means, self._board.memory))
        for fact, shown in zip(record.means, as_told(record.means), strict=True):
            self._tell(fact, shown)
        if record.is_least and any("points" in fact for fact in record.means):
            self.note("least", "dim")

    def _tell(self, fact: Fact, shown: Fact) -> None:
        self._tell_what_happened(fact, sentence(shown, self._board, self._look))
        self.tell_lessons(fact)
        self._tell_of_pause(fact)

    def tell_lessons(self, taught: Taught) -> None:
        """Tell a beginner what there is to learn from something."""
        for lesson in self.teach(taught, self._board, self._look):
            self.say(f"  > {lesson}", "italic")

    def _tell_of_pause(self, *facts: Fact) -> None:
        """Tell how to join in if another seat asks for a pause or its end, and what may be typed in a pause."""
        before, self._pause = self._pause, reduce(pause_after, facts, self._pause)
        if self._pause.is_called and not before.is_called:
            self.note("resting" if self.rests else "agree_pause", "yellow")
        elif self.awaits_resume and not before.rests:
            self.note("resting", "yellow")

    def _tell_what_happened(self, fact: Fact, line: str | None) -> None:
        match fact["what"]:
            case "hands_committed":
                self.note("committed", "cyan")
            case "hands_opened":
                for opened in opened_lines(self._board, self._look, fact["cards"]):
                    self.say(opened, "green")
            case "hand_closed":
                self.show_score()
            case _ if line is not None:
                self.say(f"  {line}")
            case _:
                pass

    def _ask(self, turn: YourTurn) -> None:
        if turn.again:
            self.note("overtaken", "yellow")
        offered = tuple(choice.line for choice in turn.options)
        if turn.must:
            # While flores are declared a record may name another
            # seat than the one that is asked (play.md, "Decisions").
            if self._board.seat is not None and self._board.seat not in self._board.acting:
                self._mark((self._board.seat,))
            self._ask_now(turn)
        # In games with a flor the same options come after every
        # record (play.md, "Decisions"): they are told once.
        elif offered and offered != self._offered:
            self.note("may_act", "dim", moves=moves_typed(turn.options, self._board, self._look))
        self._offered = offered

    def _ask_now(self, turn: YourTurn) -> None:
        clock = f" ({_time(turn.deadline_ms // 1000)})" if turn.deadline_ms else ""
        self.tell_lessons(turn)  # before the table, so that the table stays in sight
        if self.pose is None:
            self.show_table(self._speech.say("screen.your_turn") + clock)
        self.list_options(turn)
        self.prompt(clock)

    def show_table(self, title: str = "", board: ShownHand | None = None) -> None:
        """Show the table as it stands, or another board, drawn for the present size of the terminal."""
        board = self._board if board is None else board
        if self.is_plain:
            self.say(f"{title}\n{table_text(board, self._look)}".lstrip("\n"))
            return
        for line in self._drawn(board, self._look, title, *self._console.size):
            self._console.print(line, soft_wrap=True)

    def prompt(self, clock: str = "", *, asks_again: bool = False) -> None:
        """Ask for a line, unless a prompt does."""
        if self.pose is None:
            self.note("which" if asks_again else "prompt", "bold", clock=clock)

    def offer(self, turn: YourTurn | None, *, asks_again: bool = False) -> None:
        """Have the prompt, if there is one, ask for a decision, once more among some options; None if there is none."""
        asked = question(turn, self._board, self._look, self._awaited, asks_again=asks_again)
        self.set_question(asked._replace(draw=self.table(_title(asked, self._look))))

    def await_server(self) -> None:
        """Have the prompt, if there is one, say that what was decided is on its way, until there is news."""
        if self.pose is not None:
            self._awaited = self._speech.say("screen.sent")
            self.offer(None)

    def table(self, title: str) -> DrawTable | None:
        """Return what draws the table as it stands now; None before there is one, and after the match."""
        if not self.knows_game or self._is_over:
            return None
        return partial(self._drawn, self._board, self._look, title, stands=True)

    def _drawn(
        self,
        board: ShownHand,
        look: MatchLook,
        title: str,
        columns: int,
        rows: int,
        *,
        stands: bool = False,
    ) -> Iterator[Text]:
        """Return the lines of a table, with room left for what is told above and asked below."""
        height = rows_for_table(rows, is_taught=self.teach is not teach_nothing)
        return picture(board, look, width=columns, height=height, title=title, stands=stands)

    def list_options(self, turn: YourTurn) -> None:
        """Print the options with their keys, unless a prompt shows them."""
        for option in menu(turn, self._board) if self.pose is None else ():
            label = key_label(option, self._board, self._look)
            self.say(f"  {option.key}. {label}  [{grouped(option.choices)}]")
        if also := unnumbered(turn, self._board):
            line = self._speech.say("screen.also", moves=moves_typed(also, self._board, self._look))
            self.say(f"  {line}")

    def choices_meant(self, turn: YourTurn, text: str) -> tuple[tuple[MoveChoice, ...], int | None]:
        """Return the options that a line means, several if they have one key; for `cut 12` also the place."""
        if choices := keyed(menu(turn, self._board), text):
            return choices, None
        choice, place = find_choice(turn, text, self._names)
        return (() if choice is None else (choice,)), place

    def _names(self, choice: MoveChoice) -> Iterator[str]:
        return option_names(choice, self._board, self._look)

    def tell_mistake(self, got: str, turn: YourTurn, why_not: WhyNot) -> None:
        """Say why a line is none of the options."""
        self.say(mistake(got, turn, self._board, self._look, why_not), "red")

    @property
    def knows_game(self) -> bool:
        """Whether a match has begun, so that its signs and phrases are known; phrases may be said before, too."""
        return bool(self._look.names)

    def explain(self, turn: YourTurn) -> None:
        """Explain the options, those of one kind combined, and the signs and phrases."""
        if not self._has_ascii:
            self.note(self._look.faces.legend, "dim")
        for line in options_explained(turn, self._board, self._look):
            self.say(f"  {line}")

    def _show_in_full(self) -> None:
        """Show the table, by what the server is bound to its cards, and every term."""
        if self.knows_game:
            if self.pose is None:  # else it stands below already
                self.show_table()
            if digests := committed_text(self._board.memory.digests, self._look):
                self.note("bound", digests=digests)
            self.say(level_line(self._level, self._speech))
        if self._company.state is not None:
            self.say(terms_in_full(self._company.state, self._speech))

    def show_terms(self, state: TableState) -> None:
        """Show what sitting down at a table agrees to."""
        self.say(terms_line(state, self._speech), "bold")

    def explain_one(self, subject: str, turn: YourTurn | None, rules: Mapping[str, Chapter]) -> None:
        """Explain a move with its rule, how it stands, or a chapter of the rules."""
        if subject == TABLE and (self.knows_game or self._company.state is not None):
            self._show_in_full()
            return
        choices = () if turn is None else self.choices_meant(turn, subject)[0]
        what = AskedAbout(subject, next(iter(choices), None), self._board)
        width = self._console.width - len(_INDENT)
        for line in rendered(explained(what, self._look, rules), self._look.faces, width):
            self.say(f"{_INDENT}{line}" if line else line)


def _title(asked: Question, look: MatchLook) -> str:
    """Return what stands above a table: that it is one's turn, or the game."""
    return look.speech.say("screen.your_turn") if asked.at is not None else look.variant


def _time(seconds: int) -> str:
    """Return how much time there is, with minutes in the prompt's format."""
    return f"{seconds} s" if seconds < _MINUTE else f"{seconds // _MINUTE}:{seconds % _MINUTE:02}"
