"""What goes wrong is an English line for programs, and told to people in their language from what the error holds."""

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from chaos.servers import free_port
from rows import each_row

from truc_client import CheckFailedError, ConnectError, RefusedError, StoppedError, parse_address
from truc_client.errors import (
    AddressError,
    KeptEvidence,
    LostError,
    NotPlayedError,
    ServerKeyError,
    UnboundError,
)
from truc_client.home.account import Delay, NewKey
from truc_client.line.dialing import dial_tcp
from truc_protocol.errors import Code
from truc_terminal.commands.player import run
from truc_words import LANGUAGES, catalogue, in_language

KEPT = KeptEvidence((Path("a.truc"),), is_shown=True)


def spanish(error: Exception) -> str:
    return in_language(str(error), "es")


@each_row("lang", LANGUAGES)
def test_every_code_is_told_in_every_language(lang) -> None:
    assert catalogue(lang).refused.keys() == {*Code, "unknown"}


@each_row(
    "code, words, told_in_spanish",
    [
        (
            "bad_option",
            "target: expected 1 to 99, got 0",
            "la mesa no puede ser así: target: expected 1 to 99, got 0 (bad_option)",
        ),
        ("not_your_turn", "seat 1 is not to move", "no es tu turno (not_your_turn)"),  # which say no more
        (
            "too_late_today",
            "come back tomorrow",  # of a server that is newer than this client
            "el servidor lo rechazó: come back tomorrow (too_late_today)",
        ),
    ],
)
def test_refusal_is_told_by_its_code_with_the_servers_own_words(code, words, told_in_spanish) -> None:
    error = RefusedError(code, words)
    assert (spanish(error), error.message) == (told_in_spanish, words)


async def test_server_that_cannot_be_reached_is_told() -> None:
    port = free_port()
    with pytest.raises(ConnectError) as failed:
        await dial_tcp(parse_address(f"127.0.0.1:{port}"))
    assert str(failed.value) == f"cannot reach 127.0.0.1:{port}: Connection refused"
    assert spanish(failed.value) == f"no se puede llegar a 127.0.0.1:{port}: conexión rechazada"


def test_address_that_is_none_is_told() -> None:
    with pytest.raises(AddressError) as failed:
        parse_address("host:1:2")
    assert spanish(failed.value) == "se esperaba HOST:PORT o un enlace, no 'host:1:2'"


@each_row("culprit, blamed", [("server", "servidor"), ("seat 1", "asiento 1")])
def test_failed_check_is_told_around_the_words_of_machines(culprit, blamed) -> None:
    text = spanish(CheckFailedError("C19", "record 4: another card", culprit, KEPT))
    assert text.startswith("Se jugó una carta que no es la que se repartió ahí")
    assert f"(C19: record 4: another card; culpa de: {blamed})" in text
    assert text.endswith("La prueba se guarda; para mostrársela a cualquiera: truc verify a.truc")


def test_failure_that_nobody_signed_is_told() -> None:
    error = UnboundError("C9", "options at 4", lambda: None).after(3)
    assert spanish(error).startswith("Lo que llegó no superó una comprobación 3 veces en el mismo lugar")


def test_match_that_stays_stopped_is_told() -> None:
    assert spanish(StoppedError("C19: another card", Path("e.evidence"))) == (
        "esta partida se paró porque falló una comprobación, y así queda: C19: another card;"
        " la prueba es e.evidence: truc verify e.evidence"
    )


def test_new_key_and_delay_are_told() -> None:
    changed = str(NewKey("host:1", "EFGH", before="ABCD"))
    assert changed == "host:1 has a new key, signed by the one before: ABCD -> EFGH; it is remembered"
    assert in_language(str(NewKey("host:1", "ABCD")), "es") == (
        "host:1: primer contacto; se guarda su clave ABCD"
    )
    busy = RefusedError("rate_limited", "too many logins")
    assert in_language(str(Delay("host:1", 2.6, str(busy))), "es") == (
        "host:1: se ha pedido demasiado en poco tiempo: too many logins (rate_limited); se prueba de nuevo en 3 s"
    )


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
