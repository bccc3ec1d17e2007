"""The clients of docs/clients at a server with TLS: other libraries than ours agree with it on how to encrypt."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clients_elsewhere.programs import GUESTS, bot, keyed, needs_node, relay, result_of, start, told

from truc_protocol.crypto.certificates import make_certificate

pytestmark = pytest.mark.slow


@contextmanager
def between(port: int, certificate: Path) -> Iterator[int]:
    """Decrypt what comes for a server, and encrypt it again with another certificate; yields the port."""
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(certificate)
    asked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asked.check_hostname, asked.verify_mode = False, ssl.CERT_NONE
    for context in (shown, asked):
        context.set_alpn_protocols(["truc/1"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer, args=(listener, port, shown, asked), daemon=True).start()
        yield listener.getsockname()[1]


def _answer(listener: socket.socket, port: int, shown: ssl.SSLContext, asked: ssl.SSLContext) -> None:
    """Carry one hello to the server, and its answer back."""
    near, _ = listener.accept()
    with (
        shown.wrap_socket(near, server_side=True) as client,
        asked.wrap_socket(socket.create_connection(("127.0.0.1", port))) as server,
    ):
        server.sendall(client.recv(65_536))
        client.sendall(server.recv(65_536))
        client.recv(65_536)


@needs_node
def test_keyed_client_plays_encrypted_and_comes_back_where_its_connection_is_cut(tls_server, tmp_path):
    with (
        bot(tls_server, tmp_path, "truc-french", "match=1") as (place, opponent),
        relay(place, (3_000, 4_000, 5_000)) as (line, way),
    ):
        assert place.is_tls
        ended = told(start(keyed(tmp_path), way))
        assert (ended.code, ended.errors, opponent.wait(60)) == (0, "", 0)
    assert (result_of(tmp_path), line.cuts) == ("proven", 3)


@needs_node
def test_keyed_client_stops_at_a_certificate_that_the_server_does_not_vouch_for(tls_server, tmp_path) -> None:
    file = tmp_path / "forged.pem"
    file.write_bytes(make_certificate(int(time.time()), lasts_s=86_400))
    with (
        bot(tls_server, tmp_path, "truc-french", "match=1") as (place, _),
        between(tls_server.port, file) as port,
    ):
        ended = told(start(keyed(tmp_path), place.by(port)))
    assert (ended.code, "C37" in ended.errors) == (3, True)


@pytest.mark.parametrize("guest", GUESTS)
def test_guest_in_clear_is_told_the_scheme(tls_server, tmp_path, guest) -> None:
    with bot(tls_server, tmp_path, "truc-french", "guests=1", "match=1") as (place, _):
        ended = told(start(guest, place))
    assert ended.code == 1
    assert ended.errors.endswith("the addresses of this server begin with trucs://, not truc://\n")
