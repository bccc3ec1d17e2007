"""The planted cheats of level C3 in the options: moves that are another's, mean something else, or are not allowed."""

from typing import Final

from truc_conform.client_cases.stopping import DUTIES, of_options
from truc_conform.client_harness import ClientHarness
from truc_conform.forging import Bend, bending, note_cheat, on, twisting
from truc_conform.playing import signed_position
from truc_conform.result import CaseOutcome, CaseVerdict, failed
from truc_conform.scenes import Exit, judged, recasting, scene
from truc_protocol import messages
from truc_protocol.bodies import Act
from truc_protocol.boxes import Option
from truc_protocol.checks import CheckError
from truc_protocol.records import Record, parse

_CLIENT: Final = 1  # the role of seat 0


@of_options("C3.cheat-options-again", "a box of options with a counter used before")
def _one_counter(server: ClientHarness) -> None:
    """Seal all options under one counter."""
    server.one_counter = True
    _note_second_box(server)


@recasting
def _note_second_box(server: ClientHarness, message: messages.ServerMessage) -> tuple[messages.ServerMessage]:
    if isinstance(message, messages.BoxedOptions) and any(
        isinstance(sent, messages.BoxedOptions) for sent in server.sent
    ):
        note_cheat(server, message.at - 1)
    return (message,)


@of_options("C3.cheat-options-foreign", "an option that opens a card that is not the client's")
@twisting
def _foreign_card(server: ClientHarness, option: Option) -> Option:
    """Let an option open the next card of the pack."""
    slot, card, *rest = option.args
    return option._replace(args=(slot, (int(str(card)) + 1) % len(server.variant.pack), *rest))


@of_options("C3.cheat-options-line", "an option that says one move and makes another")
@twisting
def _another_line(_server: ClientHarness, option: Option) -> Option:
    """Let an option say that it concedes."""
    return option._replace(line="concede")


def _signs_nothing_forbidden(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    if server.cheated_at is None:
        return failed("the match never reached the cheat")
    if server.done.is_set():
        return CaseOutcome(
            CaseVerdict.NON_STRICT, "it signed what the rules forbid: its seat could be blamed"
        )
    return failed(f"it was still running after {end.seconds:.0f} s") if end.code is None else None


@scene(
    judged(
        "C3.cheat-options-forbidden",
        DUTIES,
        "does not sign what the rules forbid (C20), if it knows the rules",
        _signs_nothing_forbidden,
    )
)
def _forbidden(server: ClientHarness) -> None:
    """Offer to accept what nobody has asked for, in the place of cards, until that is signed."""
    offered: set[int] = set()

    def accepting(_server: ClientHarness, _option: Option) -> Option:
        offered.add(server.at_play().k)
        return Option("accept", (), "accept")

    async def end_at_it(message: messages.ClientMessage) -> bool:
        if (
            isinstance(message, messages.SignedAct)
            and signed_position(message) in offered
            and _accepts(message)
        ):
            server.done.set()
        return server.done.is_set()

    twisting(accepting)(server)
    server.intercepts.append(end_at_it)


def _accepts(message: messages.SignedAct) -> bool:
    """Tell whether a client signs that it accepts."""
    try:
        body = parse(Record(_CLIENT, message.body, message.sig))
    except CheckError:
        return False
    return isinstance(body, Act) and body.kind == "accept"


@of_options("C3.cheat-options-clear", "options outside their box")
@bending
def _in_clear(_server: ClientHarness) -> Bend:
    """Offer to concede, without a box."""

    def change(message: messages.BoxedOptions) -> messages.OpenOptions:
        choices = (messages.Choice(key="concede", kind="concede", hints={}),)
        return messages.OpenOptions(
            table=message.table,
            match=message.match,
            at=message.at,
            offer=message.offer,
            must=True,
            choices=choices,
        )

    return on(messages.BoxedOptions, change)
