"""Our own bot at a table whose host sees no card, with one check or duty taken away: careless_dealer.py FAULT URL."""

import sys
from functools import partial
from importlib import import_module

from msgspec.structs import replace

from truc_client import connecting
from truc_client.matches import agreement, pack_steps
from truc_protocol import own_steps
from truc_protocol.blind_mode import sealed_pack as steps
from truc_protocol.bodies import Keys, Lock, Mask
from truc_protocol.ledger import blind_records, sealed_pack
from truc_protocol.own_steps import Duty, duty, make_keys
from truc_protocol.wire.capabilities import OWN_OPTIONS
from truc_terminal.main import main


def nothing(*_args, **_named) -> None:
    """Find nothing."""


def never_garbled(ledger, seat, **_named):
    return duty(ledger, seat)


def at_once(ledger, seat, **named):
    """Open the link of a hand as soon as it is played."""
    return duty(ledger, seat, **named) or (Duty.LINK if ledger.hand is not None else None)


def owes_not(wanted, is_meant, ledger, seat, **named):
    """Find what is due, but for what it does not know."""
    owed = duty(ledger, seat, **named)
    return None if owed is wanted and is_meant(sealed_pack(ledger)) else owed


def knows_no(wanted, is_meant=lambda _pack: True):
    return pack_steps, "duty", partial(owes_not, wanted, is_meant)


def turn_nothing_up(pack, secrets, seat):
    keys = make_keys(pack, secrets, seat)
    return keys._replace(opened=()) if keys.box is not None else keys


def in_any_place(ledger, record, body):
    is_step = isinstance(body, Mask | Lock | Keys)
    placed = replace(body, k=ledger.k, head=ledger.head) if is_step else body
    return check_place(ledger, record, placed)


def judge_without_cards(ledger):
    judged, events = judge(ledger)
    is_false = judged.blind_hand.exposed is not None and judged.blind_hand.exposed.kind == "false"
    return (ledger, ()) if is_false else (judged, events)


def blind_too(match):
    """Take the points that have won a game for those of the next one."""
    return is_blind(match) or (match.hand_number == 1 and any(match.games))


def stand_still(*_args, **_named):
    raise SystemExit("this step was signed for another place")


fold = import_module("truc_protocol.ledger.fold")  # the package has a function of this name
check_place = fold.check_place
judge = blind_records._judge_opened
is_blind = blind_records.is_blind
CONNECT = connecting.connect.__wrapped__
FAULTS = {
    "takes points twice": (steps, "_check_new", nothing),
    "takes any places": (blind_records, "check_places", nothing),
    "reads no links": (blind_records, "first_difference", nothing),
    "plays on when garbled": (pack_steps, "duty", never_garbled),
    "opens at once": (pack_steps, "duty", at_once),
    "lends nothing": knows_no(Duty.LEND),
    "keeps unseen cards shut": knows_no(Duty.KEYS, lambda pack: pack.unseen_place is not None),
    "deals no new cards": knows_no(Duty.LOCK, lambda pack: pack.d > 0),
    "turns nothing up": (own_steps, "make_keys", turn_nothing_up),
    "carries points over": (blind_records, "is_blind", blind_too),
    "stands still where a step has moved": (pack_steps.PackSteps, "_check_history", stand_still),
    "agrees to any terms": (agreement, "_terms", lambda *_: ()),
    "believes any value": (blind_records, "_judge_opened", judge_without_cards),
    "reads no heads": (fold, "check_place", in_any_place),
    "does not deal": (CONNECT, "__kwdefaults__", CONNECT.__kwdefaults__ | {"want": (OWN_OPTIONS,)}),
}

fault, url = sys.argv[1:]
setattr(*FAULTS[fault])
main(["bot", url], prog_name="truc")
