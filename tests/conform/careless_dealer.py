"""Our own bot at a table whose host sees no card, with one check or duty taken away: careless_dealer.py FAULT URL."""

import sys

from truc_client import connecting
from truc_client.matches import pack_steps
from truc_protocol.blind_mode import sealed_pack as steps
from truc_protocol.ledger import sealed
from truc_protocol.own_steps import Duty, duty
from truc_protocol.wire.capabilities import OWN_OPTIONS
from truc_terminal.main import main


def nothing(*_args, **_named) -> None:
    """Find nothing."""


def never_garbled(ledger, seat, **_named):
    return duty(ledger, seat)


def at_once(ledger, seat, **named):
    """Open the link of a hand as soon as it is played."""
    return duty(ledger, seat, **named) or (Duty.LINK if ledger.hand is not None else None)


CONNECT = connecting.connect.__wrapped__
FAULTS = {
    "takes points twice": (steps, "_check_new", nothing),
    "takes any places": (sealed, "check_places", nothing),
    "reads no links": (sealed, "first_difference", nothing),
    "plays on when garbled": (pack_steps, "duty", never_garbled),
    "opens at once": (pack_steps, "duty", at_once),
    "does not deal": (CONNECT, "__kwdefaults__", CONNECT.__kwdefaults__ | {"want": (OWN_OPTIONS,)}),
}

fault, url = sys.argv[1:]
setattr(*FAULTS[fault])
main(["bot", url], prog_name="truc")
