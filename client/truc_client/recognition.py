"""Whether the server that answers is the one known, and the words for what a person must hear about it.

A key that is new to this client is told: at first contact, and when it was changed by rotations that the old key signed.
Anything else is a hard stop before anything was said about the player; its text names both fingerprints and what to do.
"""

import time
from collections.abc import Collection
from typing import NamedTuple

from truc_client.account import Account, NewKey
from truc_client.address import Address
from truc_client.errors import ConnectError, ServerKeyError
from truc_client.home import revoked_keys
from truc_protocol.codec import dec
from truc_protocol.errors import RemoteError
from truc_protocol.handshake import (
    PROTOCOLS,
    Broken,
    Contact,
    Fingerprint,
    HandshakeError,
    Pin,
    ServerIdentity,
    Trust,
    check_server_hello,
)
from truc_protocol.key_files import open_roll
from truc_protocol.keys import KeyFileError, fingerprint
from truc_protocol.messages import ServerHello


class Shown(NamedTuple):
    """What the two ends of a connection have seen of each other before the server's hello.

    Attributes:
        own_frame: the client's hello, as sent.
        certificate: the hash of the certificate that the server shows; None on a connection in clear.
    """

    own_frame: bytes
    certificate: bytes | None = None


def recognise(
    hello: ServerHello, shown: Shown, address: Address, account: Account, moved: Pin | None = None
) -> ServerIdentity:
    """Check who answers, remember its key and tell it if it is new.

    `moved` is the pin of a server that has sent the client to this address: the same one must answer here.

    Raises:
        ServerKeyError: It is not the server known, or not the one of the link.
        ConnectError: It breaks the protocol.
        HomeError: The revocations in the home cannot be read.
    """
    pin = _expected(account.store.pin(address.server), moved, address)
    known = pin or address.fingerprint
    contact = Contact(
        shown.own_frame, PROTOCOLS, known, int(time.time()), shown.certificate, revoked_keys(account.home)
    )
    try:
        server = check_server_hello(hello, contact)
    except HandshakeError as error:
        raise ServerKeyError(_stop(error, hello, address, pin)) from error
    except RemoteError as error:
        raise ConnectError(f"{address.server}: {error}") from error
    if pin is not None:
        _check_link(hello, contact, address, server)
    account.store.keep_pin(address.server, server.pin, is_tls=address.is_tls)
    _tell(server, address, account, pin)
    return server


def _expected(pin: Pin | None, moved: Pin | None, address: Address) -> Pin | None:
    """Return what is known of the server at an address: there, or at the address that it has left.

    Raises:
        ServerKeyError: Another server is known there.
    """
    if pin is None or moved is None:
        return pin or moved
    if pin.first != moved.first:
        raise ServerKeyError(
            f"{address.server}: another server has sent this client here: expected its key"
            f" {fingerprint(moved.present)}, but {fingerprint(pin.present)} is known at this address;"
            " do not go on before its host has told you why"
        )
    return max(pin, moved, key=lambda each: each.serial)


def keys_shown(hello: ServerHello, server: ServerIdentity, revoked: Collection[bytes]) -> frozenset[bytes]:
    """Return the keys under which a match of a server may have been begun: the present one, and those that led to it.

    They are what the hello's rotations prove, read backwards as far as they hold and nothing was given up.
    """
    keys = {server.spk}
    present = server.spk
    for roll in reversed(hello.rolls):
        try:
            change = open_roll(roll)
        except KeyFileError:
            break
        if change.new != present or change.old in revoked:
            break
        present = change.old
        keys.add(present)
    return frozenset(keys)


def _check_link(hello: ServerHello, contact: Contact, address: Address, server: ServerIdentity) -> None:
    """Check that a link means the server known: by its first key or the present one, or by one of its rotations."""
    invited = address.fingerprint
    if invited is None or invited in (fingerprint(server.pin.first), fingerprint(server.spk)):
        return
    try:
        check_server_hello(hello, contact._replace(known=invited))
    except HandshakeError as error:
        raise ServerKeyError(
            f"{address.server} is known with the key {fingerprint(server.spk)}, but the link says {invited}: "
            "the link is for another server, or older than it can show; ask for a new one"
        ) from error


def _tell(server: ServerIdentity, address: Address, account: Account, pin: Pin | None) -> None:
    present = Fingerprint(fingerprint(server.spk))
    match server.trust:
        case Trust.FIRST_CONTACT:
            account.on_new_key(NewKey(address.server, present))
        case Trust.ROLLED:
            before = address.fingerprint if pin is None else Fingerprint(fingerprint(pin.present))
            account.on_new_key(NewKey(address.server, present, before))
        case Trust.PINNED:
            pass


def _stop(error: HandshakeError, hello: ServerHello, address: Address, pin: Pin | None) -> str:
    """Say what is wrong with a server's proof, and what a person can do."""
    told = f"{address.server}: {error.message}"
    forget = f"truc keys forget {address.server}"
    if error.check == "C40":
        again = f"; then: {forget}" if pin is not None else ""
        return f"{told}: do not play there; ask its host for the address of a new server{again}"
    if error.what is Broken.CERTIFICATE:
        return f"{told}; somebody may stand between you and the server: nothing was said to it about you"
    if error.check == "C39":
        told += _both_keys(hello, address, pin)
    elif "has changed" not in error.message:
        return told
    if pin is not None:
        return f"{told}; if its host confirms the change: {forget}"
    link = "; the link is for another server, or older than it can show: ask its host for a new one"
    return told if address.fingerprint is None else told + link


def _both_keys(hello: ServerHello, address: Address, pin: Pin | None) -> str:
    """Name the key known and the one shown; only for a hello whose body has passed."""
    known = address.fingerprint if pin is None else fingerprint(pin.present)
    shown = fingerprint(dec(hello.body)[1])
    return f"; it shows the key {shown}" if known is None else f"; expected {known}, got {shown}"
