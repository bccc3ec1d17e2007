"""Settings that are each in range and still do not go together: what `truc-server check` says about them.

Each rule is a line of a table. Invariant: what stops the start, or makes the server do what nobody can want, is wrong;
what only leaves a setting without effect is a note.
"""

import ipaddress
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from truc_server.settings.findings import Finding, note, wrong
from truc_server.settings.settings import Settings


class _Rule(NamedTuple):
    """What does not go together, and what is said about it, with the settings as `{0}`."""

    applies: Callable[[Settings], bool]
    text: str
    is_wrong: bool = False


_RULES: Final = (
    _Rule(
        lambda s: bool(s.access.moved_to),
        "access.moved_to: everybody is sent to {0.access.moved_to}, and no table is taken up",
    ),
    _Rule(
        lambda s: s.guests and s.access.members != "anyone",
        'access.members: no guest may log in where it is "{0.access.members}", although guests = true',
    ),
    _Rule(
        lambda s: not s.guests and s.match.guests > 0,
        "match.guests: seats are kept for guests, although guests = false lets none log in",
    ),
    _Rule(
        lambda s: 0 < s.metrics.port == s.listen.port,
        "metrics.port: is listen.port as well: give the two different ports",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.metrics.port > 0 and not _is_loopback(s.metrics.host),
        "metrics.host: whoever reaches that address can read the figures; 127.0.0.1 keeps them on this machine",
    ),
    _Rule(
        lambda s: s.limits.connections_per_address > s.limits.connections,
        "limits.connections_per_address: more than limits.connections, so that one address may take all of them",
    ),
    _Rule(
        lambda s: s.limits.tables_per_address > s.limits.tables,
        "limits.tables_per_address: more than limits.tables, so that one address may open all of them",
    ),
    _Rule(
        lambda s: bool(set(s.access.bots) & set(s.access.banned)),
        "access.bots: one of them is in access.banned, and cannot come when it is called: take it out of one list",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.match.decision_ms == 0 and s.match.bank_ms > 0,
        "match.bank_ms: never used, as match.decision_ms = 0 sets no time for a decision",
    ),
)


def contradictions(settings: Settings) -> Iterator[Finding]:
    """Say which settings do not go together."""
    for rule in _RULES:
        if rule.applies(settings):
            yield (wrong if rule.is_wrong else note)(rule.text.format(settings))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
