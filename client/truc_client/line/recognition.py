"""Whether the server that answers is the one known, and what a person must be told about it.

A key that is new to this client is reported: at first contact, and after rotations that the old key signed. Anything
else is a hard stop, before anything is said about the player; the message names both fingerprints and what to do.
"""

import time
from collections.abc import Collection
from typing import Final, NamedTuple

from truc_client.address import Address
from truc_client.errors import ConnectError, ServerKeyError
from truc_client.home.account import Account, NewKey
from truc_client.home.home import revoked_keys
from truc_protocol.codec import dec
from truc_protocol.crypto.keys import KeyFileError, fingerprint
from truc_protocol.errors import RemoteError
from truc_protocol.key_files import open_roll
from truc_protocol.messages import ServerHello
from truc_protocol.wire.handshake import (
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
from truc_words import Sentence

_OF_THE_CONNECTION: Final = {
    Broken.IN_CLEAR: "failures.sealed_and_seen_clear",
    Broken.ENCRYPTION: "failures.sealed_by_another",
    Broken.CERTIFICATE: "failures.other_certificate",
}


class Shown(NamedTuple):
    """What the two ends of a connection have shown each other before the server's hello.

    Attributes:
        own_frame: the client's hello, as sent.
        certificate: the hash of the certificate that the server shows; None on a connection in clear.
    """

    own_frame: bytes
    certificate: bytes | None = None


def recognise(
    hello: ServerHello, shown: Shown, address: Address, account: Account, moved: Pin | None
) -> ServerIdentity:
    """Check who answers, remember its key and report it if it is new.

    `moved` is the pin of the server that has sent the client to this address: the same server must answer here.

    Raises:
        ServerKeyError: It is not the server known, or not the one that the link names.
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
        raise ConnectError(Sentence("failures.at", server=address.server, error=error)) from error
    if pin is not None:
        _check_link(hello, contact, address, server)
    account.store.keep_pin(address.server, server.pin, is_tls=address.is_tls)
    _tell(server, address, account, pin)
    return server


def _expected(pin: Pin | None, moved: Pin | None, address: Address) -> Pin | None:
    """Return the pin of the server at an address: known there, or from the address that it has left.

    Raises:
        ServerKeyError: Another server is known there.
    """
    if pin is None or moved is None:
        return pin or moved
    if pin.first != moved.first:
        keys = {"expected": fingerprint(moved.present), "known": fingerprint(pin.present)}
        raise ServerKeyError(Sentence("failures.sent_by_another", server=address.server, **keys))
    return max(pin, moved, key=lambda each: each.serial)


def keys_shown(hello: ServerHello, server: ServerIdentity, revoked: Collection[bytes]) -> frozenset[bytes]:
    """Return the keys under which a match at a server may have begun: the present one, and those that led to it.

    They follow from the hello's rotations, read backwards as far as these are valid and no key was revoked.
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
    """Check that a link means the known server: by its first key, the present one, or one of its rotations."""
    invited = address.fingerprint
    if invited is None or invited in (fingerprint(server.pin.first), fingerprint(server.spk)):
        return
    try:
        check_server_hello(hello, contact._replace(known=invited))
    except HandshakeError as error:
        keys = {"key": fingerprint(server.spk), "invited": invited}
        raise ServerKeyError(Sentence("failures.other_link", server=address.server, **keys)) from error


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


def _stop(error: HandshakeError, hello: ServerHello, address: Address, pin: Pin | None) -> Sentence:
    """Return what is wrong with a server's proof, and what a person can do about it."""
    found = _found(error, hello, address, pin)
    told = Sentence("failures.at", server=address.server, error=found)
    forget = f"truc keys forget {address.server}"
    if error.check == "C40":
        told = Sentence("failures.revoked", told=told)
        return told if pin is None else Sentence("failures.then", told=told, command=forget)
    if error.what in _OF_THE_CONNECTION:
        return Sentence("failures.in_between", told=told)
    if error.check != "C39" and error.what is not Broken.KEY:
        return told
    if pin is not None:
        return Sentence("failures.if_confirmed", told=told, command=forget)
    return told if address.fingerprint is None else Sentence("failures.stale_link", told=told)


def _found(error: HandshakeError, hello: ServerHello, address: Address, pin: Pin | None) -> str:
    """Return what is wrong, with the known key and the one shown if a person must compare them."""
    if error.what in _OF_THE_CONNECTION:
        return Sentence(_OF_THE_CONNECTION[error.what], check=error.check)
    if error.what is not Broken.KEY and error.check != "C39":
        return error.message
    keys = _keys(hello, address, pin)
    if error.what is Broken.KEY:
        return Sentence("failures.key_changed", check=error.check, **keys)
    key = "failures.both_keys" if "expected" in keys else "failures.shows_key"
    return Sentence(key, told=error.message, **keys)


def _keys(hello: ServerHello, address: Address, pin: Pin | None) -> dict[str, str]:
    """Return the key expected, if there is one, and the one shown; only for a hello whose body has passed."""
    shown = {"shown": fingerprint(dec(hello.body)[1])}
    known = address.fingerprint if pin is None else fingerprint(pin.present)
    return shown if known is None else {"expected": known, **shown}
