"""The planted cheats of level C3: each is one lie of the server, or of the other seat, that a verifier must notice.

After it the client must sign nothing for a later position, and its program must end with an exit code other than 0. It
may ask again first, where the lie could be a fault of the line; it is told the same again.
"""

from typing import Final

from truc_conform.client_cases import cheats
from truc_conform.client_cases.keyed import without_key
from truc_conform.client_harness import Stage
from truc_conform.forging import deal_body
from truc_conform.playing import signed_position
from truc_conform.result import Outcome, Verdict, failed, tag_of_body
from truc_conform.scenes import Exit, Scene, needing, one, said, unended
from truc_protocol.bodies import Act, Call, Close, Deal, Draw, End, Release, Rule
from truc_protocol.messages import Resume, SignedAct

_CHECKS: Final = "../fairness/specification.md#11-checks"
_DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"
_BEFORE_MATCH: Final = -1


def _stops(stage: Stage, end: Exit) -> Outcome | None:
    """Judge a client that has been cheated."""
    if stage.cheated_at is None:
        return failed("the match never reached the cheat")
    later = [act for act in said(stage, SignedAct) if _position(act) > stage.cheated_at]
    if later:
        return failed(f"it signed a {tag_of_body(later[0].body)} record after the cheat")
    if end.code is None:
        return failed(f"it was still running after {end.seconds:.0f} s")
    return None if end.code else failed("it ended with exit code 0, as if all were well")


def _position(message: SignedAct) -> int:
    return _BEFORE_MATCH if message.match is None else signed_position(message)


def _signs_no_second(stage: Stage, end: Exit) -> Outcome | None:
    seats = {act.body for act in said(stage, SignedAct) if act.match is None}
    return failed("it signed two tables with one nonce") if len(seats) > 1 else _stops(stage, end)


def _stops_by_the_rules(stage: Stage, end: Exit) -> Outcome | None:
    """Judge what only the rules show: a client without them may go on, and leave it to a verifier of the transcript."""
    outcome = _stops(stage, end)
    if outcome is None or stage.cheated_at is None:
        return outcome
    return Outcome(Verdict.NON_STRICT, f"{outcome.came}: only the rules show it")


def _asks_again_or_stops(stage: Stage, end: Exit) -> Outcome | None:
    return unended(stage, end) if said(stage, Resume) else _stops(stage, end)


def _cheat(name: str, what: str, cheat: cheats.Cheat) -> Scene:
    return one(f"C3.cheat-{name}", _CHECKS, f"stops at {what}", cheat, _stops)


def _of_options(name: str, what: str, cheat: cheats.Cheat) -> Scene:
    return one(f"C3.cheat-{name}", _DUTIES, f"refuses {what}", cheat, _stops)


SCENES: Final = needing(
    without_key,
    one(
        "C3.cheat-score",
        _CHECKS,
        "stops at a score with a point too many (C24), if it knows the rules",
        cheats.rewriting(Close, 1, cheats.wrong_score),
        _stops_by_the_rules,
    ),
    _cheat("signature", "a record with an invalid signature (C3)", cheats.bad_signature),
    _cheat(
        "forged-act",
        "an act of the other seat without that seat's signature (C3)",
        cheats.bending(cheats.forged_act),
    ),
    _cheat(
        "document", "a rule document other than the signed one (C5)", cheats.bending(cheats.other_document)
    ),
    _cheat("terms", "terms other than those the table showed (C9)", cheats.bending(cheats.other_terms)),
    _cheat(
        "seat",
        "a setup with somebody else in the client's own seat (C9)",
        cheats.bending(cheats.puppet_in_the_seat),
    ),
    _cheat("head", "a record that names the wrong head (C10)", cheats.other_calls(head=b"\x01" * 32)),
    _cheat("position", "a record one position too high (C10)", cheats.bending(cheats.one_further)),
    _cheat(
        "called-twice",
        "a deal that is called twice (C11)",
        cheats.rewriting(Release, 1, lambda place, body: Call(*place, body.j, 0, 3, 0, (0, 1, 2))),
    ),
    _cheat("dealer", "a call for the wrong dealer, signed anew (C13)", cheats.other_calls(dealer=1, cut=9)),
    _cheat(
        "left-out",
        "a call that leaves a contributor out (C13)",
        cheats.rewriting(
            Call, 1, lambda place, body: Call(*place, body.j, body.dealer, body.ncards, body.cut, (0, 2))
        ),
    ),
    _cheat(
        "draw-link",
        "a draw with a number never committed to (C14)",
        cheats.rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, cheats.NO_LINK, body.first)),
    ),
    _cheat(
        "close-link",
        "a hand opened by a number never committed to (C14)",
        cheats.rewriting(Close, 1, cheats.wrong_close_link),
    ),
    _cheat(
        "early-deal",
        "a deal before all have released (C15)",
        cheats.rewriting(Release, 1, lambda place, body: deal_body(place, body.j)),
    ),
    _cheat(
        "draw",
        "a draw with the wrong result (C16)",
        cheats.rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, body.link, 1 - body.first)),
    ),
    _cheat(
        "deal",
        "a deal whose cut is not the one called (C17)",
        cheats.rewriting(Deal, 1, lambda place, body: deal_body(place, body.j, dealer=body.dealer, cut=7)),
    ),
    _cheat(
        "box", "a boxed hand that does not open onto its leaves (C18)", cheats.bending(cheats.swapped_boxes)
    ),
    _cheat(
        "card",
        "a card that the other seat plays but does not hold (C19)",
        cheats.bending(cheats.another_card),
    ),
    _cheat("slot", "a card played from the wrong slot (C19)", cheats.bending(cheats.another_slot)),
    _cheat(
        "ruling",
        "a ruling without a cause (C22)",
        cheats.rewriting(Act, 1, lambda place, body: Rule(*place, body.j, "forfeit", 0, "absent", ())),
    ),
    _cheat(
        "winner",
        "a match that ends with the wrong winner (C24)",
        cheats.rewriting(End, 0, cheats.wrong_winner),
    ),
    _cheat("leaf", "a card swapped under its commitment (C25)", cheats.leaves(cheats.swapped_leaf)),
    _cheat("shuffle", "cards that are not from the shuffle (C25)", cheats.leaves(cheats.unshuffled)),
    _of_options("options-again", "a box of options with a counter used before", cheats.one_counter),
    _of_options(
        "options-foreign",
        "an option that opens a card that is not the client's",
        cheats.twisting(cheats.foreign_card),
    ),
    _of_options(
        "options-line", "an option that says one move and makes another", cheats.twisting(cheats.another_line)
    ),
    _of_options("options-clear", "options outside their box", cheats.bending(cheats.in_clear)),
    one(
        "C3.cheat-nonce",
        _CHECKS,
        "does not sign two tables with one nonce (C9, C36)",
        cheats.nonce_again,
        _signs_no_second,
    ),
    _cheat("history", "another record for a position it has (C33)", cheats.two_histories),
    one(
        "C3.gap",
        "overview.md#one-log",
        "asks for a missing record, or stops",
        cheats.skipped,
        _asks_again_or_stops,
    ),
)
