"""What the host keeps and drops: members, invites, sanctions, guests who stay away, old matches.

Statements in the caller's transaction. None of it belongs to a table that is played at, so no claim is needed, and a
command can write it beside a running server. A match goes as a whole, with its records, wishes and list of players. It may
go if it was over before a time, or was given up without an end and has no record since that time; and if no table shows it
any more. Invariant: an invite makes no more members than it has uses, however many log in with it at once.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Executable,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from truc_server.storage import Invite, Member, Sanction, SanctionKind
from truc_server.storage.schema import (
    guests,
    invites,
    match_players,
    matches,
    members,
    online,
    records,
    sanctions,
    seats,
    secrets,
    tables,
    wishes,
)
from truc_server.storage.statements import upsert

_MEMBERS: Final = select(*(members.c[field] for field in Member._fields))
_INVITES: Final = select(*(invites.c[field] for field in Invite._fields))
_SANCTIONS: Final = select(*(sanctions.c[field] for field in Sanction._fields))
_FIND: Final = _MEMBERS.where(members.c.fingerprint == bindparam("who"))
_EXPEL: Final = delete(members).where(members.c.fingerprint == bindparam("who"))
# Checked and counted down in one statement: two keys that log in at once cannot both have the last use.
_USE: Final = (
    update(invites)
    .where(
        invites.c.code_hash == bindparam("code"), invites.c.uses > 0, invites.c.until_ms > bindparam("now")
    )
    .values(uses=invites.c.uses - 1)
)
_GIVE_BACK: Final = (
    update(invites).where(invites.c.code_hash == bindparam("code")).values(uses=invites.c.uses + 1)
)
_DROP_SPENT: Final = delete(invites).where((invites.c.uses <= 0) | (invites.c.until_ms <= bindparam("now")))
_WITHDRAW: Final = delete(invites).where(invites.c.code_hash == bindparam("code"))
_LIFT: Final = delete(sanctions).where(
    sanctions.c.subject == bindparam("whom"), sanctions.c.kind == bindparam("what")
)
_DROP_OVER: Final = delete(sanctions).where(sanctions.c.until_ms <= bindparam("now"))
_SEE: Final = update(guests).where(guests.c.id == bindparam("who")).values(seen_ms=bindparam("now"))
_PRUNE_GUESTS: Final = delete(guests).where(
    guests.c.seen_ms < bindparam("before"),
    guests.c.id.not_in(select(seats.c.player)),
    # A server without other nodes has no rows here, and tells by `connected` who is there.
    guests.c.id.not_in(select(online.c.player).where(online.c.is_here)),
)


def members_by_age(connection: Connection) -> tuple[Member, ...]:
    """Return the members of a closed server, in the order they were admitted."""
    rows = connection.execute(_MEMBERS.order_by(members.c.since_ms, members.c.fingerprint))
    return tuple(Member._make(row) for row in rows)


def is_member(connection: Connection, fingerprint: str) -> bool:
    """Tell whether a key is a member."""
    return connection.execute(_FIND, {"who": fingerprint}).first() is not None


def admit(connection: Connection, member: Member) -> bool:
    """Make a key a member; False if it is one already."""
    # In one statement: another node could admit the same key between a look and the insert.
    return _changes(connection, upsert(connection.dialect.name, members), member._asdict()) > 0


def expel(connection: Connection, fingerprint: str) -> bool:
    """End a membership; False if there was none."""
    return _changes(connection, _EXPEL, {"who": fingerprint}) > 0


def invites_by_end(connection: Connection) -> tuple[Invite, ...]:
    """Return the invites that are kept, including expired ones, in the order they end."""
    rows = connection.execute(_INVITES.order_by(invites.c.until_ms, invites.c.code_hash))
    return tuple(Invite._make(row) for row in rows)


def issue(connection: Connection, invite: Invite) -> None:
    """Store an invite."""
    connection.execute(insert(invites), [invite._asdict()])


def use_invite(connection: Connection, code_hash: bytes, member: Member) -> bool:
    """Use an invite once for a key; a key that is a member already uses nothing up."""
    if is_member(connection, member.fingerprint):
        return True
    used = _changes(connection, _USE, {"code": code_hash, "now": member.since_ms}) > 0
    if used and not admit(connection, member):
        # Meanwhile the key has come in at another node: that was its use.
        connection.execute(_GIVE_BACK, {"code": code_hash})
    connection.execute(_DROP_SPENT, {"now": member.since_ms})
    # Looked up again: of an invite with one use left it may be the key itself that had it, at another node.
    return used or is_member(connection, member.fingerprint)


def withdraw(connection: Connection, code_hash: bytes) -> bool:
    """Withdraw an invite; False if there is none."""
    return _changes(connection, _WITHDRAW, {"code": code_hash}) > 0


def sanctions_by_age(connection: Connection) -> tuple[Sanction, ...]:
    """Return everything imposed by command, including what is over, in the order it was imposed."""
    in_order = _SANCTIONS.order_by(sanctions.c.since_ms, sanctions.c.subject, sanctions.c.kind)
    rows = connection.execute(in_order)
    return tuple(Sanction._make(row)._replace(kind=SanctionKind(row.kind)) for row in rows)


def impose(connection: Connection, sanction: Sanction) -> None:
    """Impose a sanction, replacing one of the same kind on the same subject; what is over by then is dropped."""
    connection.execute(_DROP_OVER, {"now": sanction.since_ms})
    lift(connection, sanction.subject, sanction.kind)
    connection.execute(insert(sanctions), [sanction._asdict()])


def lift(connection: Connection, subject: str, kind: SanctionKind) -> bool:
    """Lift a sanction; False if there was none."""
    return _changes(connection, _LIFT, {"whom": subject, "what": kind}) > 0


def prune_guests(connection: Connection, *, before_ms: int, connected: Collection[bytes], now_ms: int) -> int:
    """Forget the guests without a seat who were last seen before a time; those connected count as seen now.

    Those who are connected to another node stay, too.
    """
    if connected:
        connection.execute(_SEE, [{"who": guest, "now": now_ms} for guest in sorted(connected)])
    return _changes(connection, _PRUNE_GUESTS, {"before": before_ms})


_SHOWN: Final = select(tables.c.match).where(tables.c.match.is_not(None))
_HAS_NEWER: Final = exists().where(records.c.mid == matches.c.mid, records.c.at_ms >= bindparam("before"))
_IS_OLD: Final = or_(
    matches.c.ended_ms < bindparam("before"),
    matches.c.ended_ms.is_(None) & ~_HAS_NEWER,
)
_OLD: Final = select(matches.c.mid).where(_IS_OLD, matches.c.mid.not_in(_SHOWN))
_COUNT: Final = select(func.count()).select_from(_OLD.subquery())
_STILL_OLD: Final = select(matches.c.th).where(
    matches.c.mid == bindparam("match"), _IS_OLD, matches.c.mid.not_in(_SHOWN)
)
_DELETIONS: Final[tuple[Executable, ...]] = (
    delete(records).where(records.c.mid == bindparam("match")),
    delete(wishes).where(wishes.c.mid == bindparam("match")),
    delete(match_players).where(match_players.c.mid == bindparam("match")),
    delete(matches).where(matches.c.mid == bindparam("match")),
)
_DROP_SECRETS: Final = delete(secrets).where(secrets.c.th == bindparam("of"))


def count_old_matches(connection: Connection, before_ms: int) -> int:
    """Return how many matches may go."""
    return int(connection.execute(_COUNT, {"before": before_ms}).scalar_one())


def old_matches(connection: Connection, *, before_ms: int, limit: int) -> tuple[bytes, ...]:
    """Return some of the matches that may go."""
    page = _OLD.order_by(matches.c.ended_ms, matches.c.mid).limit(limit)
    return tuple(connection.execute(page, {"before": before_ms}).scalars())


def delete_match(connection: Connection, mid: bytes, *, before_ms: int) -> bool:
    """Delete a match, if it still may go; False if it may not, or is gone."""
    # Checked again, in the transaction that deletes: it was found in another one, and a server goes on
    # meanwhile.
    found = connection.execute(_STILL_OLD, {"match": mid, "before": before_ms}).first()
    if found is None:
        return False
    for deletion in _DELETIONS:
        connection.execute(deletion, {"match": mid})
    connection.execute(_DROP_SECRETS, {"of": found.th})
    return True


def _changes(connection: Connection, statement: Executable, values: dict[str, Any]) -> int:
    # Else SQLAlchemy forgets that of an insert on PostgreSQL.
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount
