"""What a bot prints: the result of a match on standard output, trouble on standard error."""

from truc_client.happenings import Happening, Interrupted, MatchEnded, TranscriptSetAside
from truc_client.verifying import result_line
from truc_terminal.commands.common import spoken, tell
from truc_words import Sentence, Speech, shown_name


def complain(text: str) -> None:
    """Print what went wrong."""
    tell(text, err=True)


def tell_trouble(happening: Happening) -> None:
    """Print what went wrong at a table without ending it."""
    match happening:
        case Interrupted(reason):
            complain(Sentence("connecting.connecting_again", reason=reason))
        case TranscriptSetAside(path, reason):
            complain(Sentence("connecting.set_aside", reason=reason, path=path))
        case _:
            pass


def result_of(ended: MatchEnded) -> str:
    """Return the line that says how a match ended and where its transcript is."""
    verdict = ended.verdict
    names = [shown_name(name, seat) for seat, name in enumerate(verdict.players)]
    line = result_line(verdict, names, Speech(spoken()))
    found = {"result": verdict.result, "level": verdict.level, "path": ended.transcript}
    return Sentence("commands.bot_result", told=line, **found).told(spoken())
