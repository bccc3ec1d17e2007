"""Members of a closed server and the invites that make them, as statements in the caller's transaction.

They are the host's, not a table's: no claim is needed, so that a command writes them beside a running server.
Invariant: an invite makes no more members than it has uses, however many log in with it at once.
"""

from typing import Any, Final

from sqlalchemy import Connection, Executable, bindparam, delete, insert, select, update

from truc_server.store.schema import invites, members
from truc_server.store.writes import Invite, Member

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
    """Use an invite once for a key; a key that is a member by now uses nothing up."""
    if connection.execute(_FIND, {"who": member.fingerprint}).first() is not None:
        return True
    used = _changes(connection, _USE, {"code": code_hash, "now": member.since_ms}) > 0
    connection.execute(_DROP_SPENT, {"now": member.since_ms})
    return used and admit(connection, member)


def _changes(connection: Connection, statement: Executable, values: dict[str, Any]) -> int:
    return connection.execute(statement, values).rowcount
