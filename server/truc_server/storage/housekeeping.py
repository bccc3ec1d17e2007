"""What the host keeps and drops: members, invites, sanctions, guests who stay away, old matches.

Statements in the caller's transaction. None of it belongs to a table that is played at, so no claim is needed, and a
command can write it beside a running server. A match goes as a whole, with its records, wishes and list of players. It may
go if it was over before a time, or was given up without an end and has no record since that time; and if no table shows it
any more. Invariant: an invite makes no more members than it has uses, however many log in with it at once.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import (
    Connection,
    Executable,
    Select,
    Table,
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


def members_by_age(connection: Connection) -> tuple[Member, ...]:
    """Return the members of a closed server, in the order they were admitted."""
    rows = _all(Member, members).order_by(members.c.since_ms, members.c.fingerprint)
    return tuple(Member._make(row) for row in connection.execute(rows))


def is_member(connection: Connection, fingerprint: str) -> bool:
    """Tell whether a key is a member."""
    found = select(members.c.fingerprint).where(members.c.fingerprint == fingerprint)
    return connection.execute(found).first() is not None


def admit(connection: Connection, member: Member) -> bool:
    """Make a key a member; False if it is one already."""
    # In one statement: another node could admit the same key between a look and the insert.
    fresh = upsert(connection.dialect.name, members)
    return _changes(connection, fresh, member._asdict()) > 0


def expel(connection: Connection, fingerprint: str) -> bool:
    """End a membership; False if there was none."""
    return _changes(connection, delete(members).where(members.c.fingerprint == fingerprint)) > 0


def invites_by_end(connection: Connection) -> tuple[Invite, ...]:
    """Return the invites that are kept, including expired ones, in the order they end."""
    rows = _all(Invite, invites).order_by(invites.c.until_ms, invites.c.code_hash)
    return tuple(Invite._make(row) for row in connection.execute(rows))


def issue(connection: Connection, invite: Invite) -> None:
    """Store an invite."""
    connection.execute(insert(invites), [invite._asdict()])


def use_invite(connection: Connection, code_hash: bytes, member: Member) -> bool:
    """Use an invite once for a key; a key that is a member already uses nothing up."""
    if is_member(connection, member.fingerprint):
        return True
    now_ms, this = member.since_ms, update(invites).where(invites.c.code_hash == code_hash)
    # Checked and counted down in one statement: two keys that log in at once cannot both have the last use.
    use = this.where(invites.c.uses > 0, invites.c.until_ms > now_ms).values(uses=invites.c.uses - 1)
    used = _changes(connection, use) > 0
    if used and not admit(connection, member):
        # Meanwhile the key has come in at another node: that was its use.
        connection.execute(this.values(uses=invites.c.uses + 1))
    connection.execute(delete(invites).where((invites.c.uses <= 0) | (invites.c.until_ms <= now_ms)))
    # Looked up again: of an invite with one use left it may be the key itself that had it, at another node.
    return used or is_member(connection, member.fingerprint)


def withdraw(connection: Connection, code_hash: bytes) -> bool:
    """Withdraw an invite; False if there is none."""
    return _changes(connection, delete(invites).where(invites.c.code_hash == code_hash)) > 0


def sanctions_by_age(connection: Connection) -> tuple[Sanction, ...]:
    """Return everything imposed by command, including what is over, in the order it was imposed."""
    by_age = (sanctions.c.since_ms, sanctions.c.subject, sanctions.c.kind)
    rows = connection.execute(_all(Sanction, sanctions).order_by(*by_age))
    return tuple(Sanction._make(row)._replace(kind=SanctionKind(row.kind)) for row in rows)


def impose(connection: Connection, sanction: Sanction) -> None:
    """Impose a sanction, replacing one of the same kind on the same subject; what is over by then is dropped."""
    connection.execute(delete(sanctions).where(sanctions.c.until_ms <= sanction.since_ms))
    lift(connection, sanction.subject, sanction.kind)
    connection.execute(insert(sanctions), [sanction._asdict()])


def lift(connection: Connection, subject: str, kind: SanctionKind) -> bool:
    """Lift a sanction; False if there was none."""
    this = (sanctions.c.subject == subject, sanctions.c.kind == kind)
    return _changes(connection, delete(sanctions).where(*this)) > 0


def prune_guests(connection: Connection, *, before_ms: int, connected: Collection[bytes], now_ms: int) -> int:
    """Forget the guests without a seat who were last seen before a time; those connected count as seen now.

    Those who are connected to another node stay, too.
    """
    if connected:
        see = update(guests).where(guests.c.id == bindparam("who")).values(seen_ms=now_ms)
        connection.execute(see, [{"who": guest} for guest in sorted(connected)])
    absent = (
        guests.c.seen_ms < before_ms,
        guests.c.id.not_in(select(seats.c.player)),
        # A server without other nodes has no rows here, and tells by `connected` who is there.
        guests.c.id.not_in(select(online.c.player).where(online.c.is_here)),
    )
    return _changes(connection, delete(guests).where(*absent))


def _old(before_ms: int) -> Select[Any]:
    """Return the statement that finds the matches that may go."""
    has_newer = exists().where(records.c.mid == matches.c.mid, records.c.at_ms >= before_ms)
    is_old = or_(matches.c.ended_ms < before_ms, matches.c.ended_ms.is_(None) & ~has_newer)
    shown = select(tables.c.match).where(tables.c.match.is_not(None))
    return select(matches.c.mid).where(is_old, matches.c.mid.not_in(shown))


def count_old_matches(connection: Connection, before_ms: int) -> int:
    """Return how many matches may go."""
    count = select(func.count()).select_from(_old(before_ms).subquery())
    return int(connection.execute(count).scalar_one())


def old_matches(connection: Connection, *, before_ms: int, limit: int) -> tuple[bytes, ...]:
    """Return some of the matches that may go."""
    page = _old(before_ms).order_by(matches.c.ended_ms, matches.c.mid).limit(limit)
    return tuple(connection.execute(page).scalars())


def delete_match(connection: Connection, mid: bytes, *, before_ms: int) -> bool:
    """Delete a match, if it still may go; False if it may not, or is gone."""
    # Checked again, in the transaction that deletes: it was found in another one, and a server goes on
    # meanwhile.
    still_old = _old(before_ms).where(matches.c.mid == mid).with_only_columns(matches.c.th)
    th = connection.execute(still_old).scalar()
    if th is None:
        return False
    for table in (records, wishes, match_players, matches):
        connection.execute(delete(table).where(table.c.mid == mid))
    connection.execute(delete(secrets).where(secrets.c.th == th))
    return True


def _all(kind: type[Member | Invite | Sanction], table: Table) -> Select[Any]:
    """Return the statement that reads a table as values of a kind, whose fields are its columns."""
    return select(*(table.c[field] for field in kind._fields))


def _changes(
    connection: Connection, statement: Executable, values: Mapping[str, object] | None = None
) -> int:
    # Else SQLAlchemy forgets that of an insert on PostgreSQL.
    return connection.execute(statement, values, execution_options={"preserve_rowcount": True}).rowcount
