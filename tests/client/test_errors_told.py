"""What goes wrong is an English line for programs, and told to people in their language from what the error holds."""

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from client.playing import visit
from msgspec.structs import replace
from rows import each_row

from truc_client import CheckFailedError, ConnectError, RefusedError, StoppedError
from truc_client.errors import (
    KeptEvidence,
    LostError,
    NotPlayedError,
    ServerKeyError,
    UnboundError,
)
from truc_client.home.account import Delay, NewKey
from truc_protocol.errors import Code
from truc_protocol.messages import refusal
from truc_terminal.commands.player import run
from truc_words import LANGUAGES, catalogue, in_language

KEPT = KeptEvidence((Path("a.truc"),), is_shown=True)


@each_row("lang", LANGUAGES)
def test_every_code_is_told_in_every_language(lang) -> None:
    assert catalogue(lang).refused.keys() == {*Code, "unknown"}


def checked(culprit: str) -> CheckFailedError:
    return CheckFailedError("C19", "record 4: another card", culprit, KEPT)


PLAYED_ANOTHER = "Se jugó una carta que no es la que se repartió ahí"
PROOF = "La prueba se guarda; para mostrársela a cualquiera: truc verify a.truc"


@each_row(
    "error, parts",
    [
        (
            RefusedError("bad_option", "target: expected 1 to 99, got 0"),
            ["la mesa no puede ser así: target: expected 1 to 99, got 0 (bad_option)"],
        ),
        (RefusedError("not_your_turn", "seat 1 is not to move"), ["no es tu turno (not_your_turn)"]),
        (
            RefusedError(
                "too_late_today", "come back tomorrow"
            ),  # of a server that is newer than this client
            ["el servidor lo rechazó: come back tomorrow (too_late_today)"],
        ),
        (checked("server"), [PLAYED_ANOTHER, "(C19: record 4: another card; culpa de: servidor)", PROOF]),
        (checked("seat 1"), [PLAYED_ANOTHER, "(C19: record 4: another card; culpa de: asiento 1)", PROOF]),
        (
            UnboundError("C9", "options at 4", lambda: None).after(3),
            ["Lo que llegó no superó una comprobación 3 veces en el mismo lugar"],
        ),
        (
            StoppedError("C19: another card", Path("e.evidence")),
            [
                "esta partida se paró porque falló una comprobación, y así queda: C19: another card;",
                " la prueba es e.evidence: truc verify e.evidence",
            ],
        ),
        (NewKey("host:1", "ABCD"), ["host:1: primer contacto; se guarda su clave ABCD"]),
        (
            NewKey("host:1", "EFGH", before="ABCD"),
            ["host:1 tiene una clave nueva, firmada por la anterior: ABCD -> EFGH; se guarda"],
        ),
        (
            Delay("host:1", 2.6, str(RefusedError("rate_limited", "too many logins"))),
            ["host:1: se ha pedido demasiado en poco tiempo: too many logins (rate_limited); se prueba"],
        ),
    ],
)
def test_what_goes_wrong_is_told_in_spanish_from_what_the_error_holds(error, parts) -> None:
    told = in_language(str(error), "es")
    assert [part for part in parts if part not in told] == []


@each_row(
    "error, told_back",
    [
        (ConnectError("127.0.0.1:1: refused"), "To come back: truc play\n"),
        (LostError("the connection was lost"), "To come back: truc play\n"),
        (ServerKeyError("another key"), ""),
        (NotPlayedError("elsewhere"), ""),
    ],
)
def test_who_has_a_seat_at_a_server_that_stays_away_is_told_the_way_back(error, told_back) -> None:
    async def lose() -> None:
        raise error

    shown = io.StringIO()
    with redirect_stderr(shown), pytest.raises(type(error)):
        run(lose, lambda: "To come back: truc play")
    assert shown.getvalue() == told_back


async def test_server_that_asks_for_encryption_over_an_encrypted_line_is_told_in_the_language_spoken(
    server, player
):
    async def answer(hello) -> None:
        wants_tls = refusal(Code.UNSUPPORTED, "speak TLS", re=hello.id)
        await server.push(replace(wants_tls, detail={"tls": True}))

    server.greet = answer
    with pytest.raises(ConnectError) as refused:
        await visit("trucs://host", player, dial=server.dial)
    assert in_language(str(refused.value), "es").endswith("sus direcciones empiezan con trucs://")
