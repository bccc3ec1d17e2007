"""Members, invites, sanctions, and guests who stay away, as statements in the caller's transaction.

They belong to the host, not to a table: no claim is needed, so a command can write them beside a running server.
Invariant: an invite makes no more members than it has uses, however many log in with it at once.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, Executable, bindparam, delete, insert, select, update

from truc_server.storage.schema import guests, invites, members, sanctions, seats
from truc_server.storage.writes import Invite, Member, Sanction, SanctionKind

_FIND: Final = select(members.c.since_ms).where(members.c.fingerprint == bindparam("who"))
_EXPEL: Final = delete(members).where(members.c.fingerprint == bindparam("who"))
_USE: Final = (
    update(invites)
    .where(
        invites.c.code_hash == bindparam("code"), invites.c.uses > 0, invites.c.until_ms > bindparam("now")
    )
    .values(uses=invites.c.uses - 1)
)
_DROP_SPENT: Final = delete(invites).where((invites.c.uses <= 0) | (invites.c.until_ms <= bindparam("now")))

_WITHDRAW: Final = delete(invites).where(invites.c.code_hash == bindparam("code"))

_LIFT: Final = delete(sanctions).where(
    sanctions.c.subject == bindparam("whom"), sanctions.c.kind == bindparam("what")
)
_DROP_OVER: Final = delete(sanctions).where(sanctions.c.until_ms <= bindparam("now"))
_SEE: Final = update(guests).where(guests.c.id == bindparam("who")).values(seen_ms=bindparam("now"))
_PRUNE_GUESTS: Final = delete(guests).where(
    guests.c.seen_ms < bindparam("before"), guests.c.id.not_in(select(seats.c.player))
)


def admit(connection: Connection, member: Member) -> bool:
    """Make a key a member; False if it is one already."""
    if connection.execute(_FIND, {"who": member.fingerprint}).first() is not None:
        return False
    connection.execute(insert(members), [member._asdict()])
    return True


def expel(connection: Connection, fingerprint: str) -> bool:
    """End a membership; False if there was none."""
    return _changes(connection, _EXPEL, {"who": fingerprint}) > 0


def issue(connection: Connection, invite: Invite) -> None:
    """Keep an invite."""
    connection.execute(insert(invites), [invite._asdict()])


def use_invite(connection: Connection, code_hash: bytes, member: Member) -> bool:
    """Use an invite once for a key; a key that is a member already uses nothing up."""
    if connection.execute(_FIND, {"who": member.fingerprint}).first() is not None:
        return True
    used = _changes(connection, _USE, {"code": code_hash, "now": member.since_ms}) > 0
    connection.execute(_DROP_SPENT, {"now": member.since_ms})
    return used and admit(connection, member)


def impose(connection: Connection, sanction: Sanction) -> None:
    """Impose a sanction, replacing one of the same kind on the same subject; what is over by then is dropped."""
    connection.execute(_DROP_OVER, {"now": sanction.since_ms})
    lift(connection, sanction.subject, sanction.kind)
    connection.execute(insert(sanctions), [sanction._asdict()])


def lift(connection: Connection, subject: str, kind: SanctionKind) -> bool:
    """Lift a sanction; False if there was none."""
    return _changes(connection, _LIFT, {"whom": subject, "what": kind}) > 0


def prune_guests(connection: Connection, *, before_ms: int, connected: Collection[bytes], now_ms: int) -> int:
    """Forget the guests without a seat who were last seen before a time; those connected count as seen now."""
    if connected:
        connection.execute(_SEE, [{"who": guest, "now": now_ms} for guest in sorted(connected)])
    return _changes(connection, _PRUNE_GUESTS, {"before": before_ms})


def withdraw(connection: Connection, code_hash: bytes) -> bool:
    """Withdraw an invite; False if there is none."""
    return _changes(connection, _WITHDRAW, {"code": code_hash}) > 0


def _changes(connection: Connection, statement: Executable, values: dict[str, Any]) -> int:
    return connection.execute(statement, values).rowcount
