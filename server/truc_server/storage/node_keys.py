"""Whether a node has the keys of the others on its database: compared before it joins, with what the first of them left there.

Invariant: the database holds nothing from which a key could be found.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, insert, select, update

from truc_protocol.crypto.keys import fingerprint, same_secret
from truc_server.identity.identity import Identity
from truc_server.storage import Node, NodeKeys, StoreError
from truc_server.storage.engine import open_to_read, reading
from truc_server.storage.leases import all_nodes, db_now_ms
from truc_server.storage.schema import node_keys, nodes, ownership

_FILES: Final = "identity.pem, rolls.txt and the folder earlier"


class KnownKeys(NamedTuple):
    """What the database knows of the nodes' keys; `serial` is how often the identity key was changed."""

    at_rest: bytes
    identity: bytes
    serial: int


def keys_of(identity: Identity) -> NodeKeys:
    """Return what other nodes know the keys of a node by."""
    return NodeKeys(identity.at_rest_check, identity.key.public, identity.earlier_public_keys)


def check_keys(connection: Connection, node: str, keys: NodeKeys) -> None:
    """Check that a node has the keys of the others, or, while none of them runs, the next ones, which count from now on.

    Raises:
        StoreError: It has other keys.
    """
    connection.execute(select(ownership.c.epoch).with_for_update())  # as claims do: one node after the other
    known = _known(connection)
    if known is None:
        connection.execute(insert(node_keys).values(id=0, **_row(keys)))
    elif compare_keys(known, keys, _running(connection, but=node)):
        connection.execute(update(node_keys).values(_row(keys)))


def compare_keys(known: KnownKeys, keys: NodeKeys, others: Sequence[str]) -> bool:
    """Tell whether keys come after those that are known to the database; `others` are the nodes that run.

    Raises:
        StoreError: They are others, or older, or newer while other nodes run.
    """
    if not same_secret(known.at_rest, keys.at_rest):
        raise StoreError(
            "secrets.key is another one than that of the nodes on this database: copy it from the data folder of one of them"
        )
    _check_identity(keys, known.identity, known.serial)
    is_newer = len(keys.before) > known.serial
    # A client that has seen the newest key takes an older one for a false server, so no two nodes may show
    # different ones: after a change of the key all end, and come again.
    if is_newer and others:
        raise StoreError(
            f"the key {fingerprint(keys.identity)} is newer than that of the nodes that run ({', '.join(others)}): "
            f"give them {_FILES}, end them all, then start them"
        )
    return is_newer


def read_nodes(url: str) -> tuple[tuple[Node, ...], KnownKeys | None]:
    """Return the nodes on a database and what is known of their keys; nothing is written.

    Raises:
        StoreError: It cannot be read, or has another schema than the newest.
    """
    engine = open_to_read(url)
    try:
        with reading(engine) as connection:
            return all_nodes(connection), _known(connection)
    finally:
        engine.dispose()


def _known(connection: Connection) -> KnownKeys | None:
    row = connection.execute(select(node_keys.c.at_rest, node_keys.c.identity, node_keys.c.serial)).first()
    return None if row is None else KnownKeys._make(row)


def _check_identity(keys: NodeKeys, known: bytes, serial: int) -> None:
    """Check that the keys are those that are known, or follow from them."""
    line = (*keys.before, keys.identity)
    if len(line) <= serial:
        raise StoreError(
            f"the nodes on this database have the key {fingerprint(known)}, after {serial} changes, got "
            f"{fingerprint(keys.identity)}, after {len(keys.before)}: copy {_FILES} from one of them"
        )
    # As many changes on, there must be the known key in the line: else the keys are those of another server.
    if line[serial] != known:
        raise StoreError(
            f"the nodes on this database have the key {fingerprint(known)}, got {fingerprint(line[serial])}, another "
            f"server's: copy {_FILES} from one of them"
        )


def _row(keys: NodeKeys) -> dict[str, object]:
    return {"at_rest": keys.at_rest, "identity": keys.identity, "serial": len(keys.before)}


def _running(connection: Connection, *, but: str) -> Sequence[str]:
    live = select(nodes.c.name).where(nodes.c.name != but, nodes.c.lease_until_ms > db_now_ms())
    return connection.execute(live.order_by(nodes.c.name)).scalars().all()
