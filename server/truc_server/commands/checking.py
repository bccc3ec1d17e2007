"""`truc-server check`: everything that can be checked before a start, or beside a running server.

Invariant: nothing is changed, and each problem is one line that says what to do.
"""

import errno
import ipaddress
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import click

from truc_commands.files import path_of
from truc_server.admin.requests import MAX_PATH
from truc_server.commands.command_line import (
    data_root,
    format_minute,
    is_local,
    is_wildcard,
    load_settings,
    server_options,
)
from truc_server.identity.certificate import look_at_certificate, look_at_web_certificate
from truc_server.identity.identity import (
    PublicIdentity,
    check_in_force,
    has_passphrase,
    made_at,
    read_identity,
    read_public,
    unsealed_files,
)
from truc_server.identity.key_files import IdentityError
from truc_server.identity.passphrases import passphrase_of, read_passphrase
from truc_server.net.listening import MISSING_ADDRESS, bound_socket
from truc_server.operation import disk
from truc_server.operation.process import allowed_files, needed_files
from truc_server.settings.findings import CheckResult, note, right, wrong
from truc_server.settings.folder import Folder, FolderError, is_read_only, lock_holder, why_closed
from truc_server.settings.settings import ClusterSettings, Settings, host_and_port
from truc_server.settings.variants import VariantsError, read_catalogue
from truc_server.storage import StoreError
from truc_server.storage.backups import check_may_start

if TYPE_CHECKING:
    from truc_server.storage.sqlite_file import Inspection


class _Rule(NamedTuple):
    """Settings that contradict each other, and the sentence that says so, with the settings as `{0}`."""

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
        lambda s: bool(s.web.origin and not s.web.listen),
        "web.origin: not used, as web.listen is empty and no browser is served",
    ),
    _Rule(
        lambda s: (
            s.web.origin.startswith("http:") and not _is_loopback(urlsplit(s.web.origin).hostname or "")
        ),
        "web.origin: {0.web.origin} is neither https nor this machine: browsers have no keys there, and play as guests",
    ),
    _Rule(
        lambda s: bool(s.web.certificate) and not s.web.origin.startswith("https:"),
        "web.certificate: set, so web.origin must be what its https address begins with",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.web.origin.startswith("https:") and not (s.web.certificate or s.web.proxies),
        "web.proxies: empty, so all who come through your proxy count as one address; name the proxy",
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
        lambda s: s.tables.bots > 0 and s.tables.company_s == 0 and s.match.when_gone != "substitute",
        "tables.bots: they play only at tables that want substitutes, as tables.company_s = 0",
    ),
    _Rule(
        lambda s: s.tables.bots >= s.limits.connections_per_address,
        "limits.connections_per_address: not enough for tables.bots, who all come from this machine: set more",
        is_wrong=True,
    ),
    _Rule(
        lambda s: bool(s.cluster.node) and not s.store.url.startswith("postgresql"),
        "cluster.node: set, so store.url must be the PostgreSQL database that the nodes share",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.cluster.route == "proxy" and bool(s.cluster.node) and not s.cluster.inner,
        "cluster.inner: empty, so no other node can bring players to the tables of this one: set it where"
        ' cluster.route = "proxy"',
        is_wrong=True,
    ),
    _Rule(
        lambda s: bool(s.cluster.node and s.web.listen) and not s.cluster.inner,
        "cluster.inner: empty, so no browser comes to the tables of this node from another: a page cannot be sent to"
        " another address, so set it where browsers are served",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.cluster.route == "moved" and bool(s.cluster.node) and not s.cluster.inner,
        "cluster.inner: empty, so who plays at another node's table cannot also play here on the same connection",
    ),
    _Rule(
        lambda s: bool(s.cluster.node) and not s.cluster.public and is_local(s),
        "cluster.public: not set, and neither is listen.public_host: players cannot be sent to this node",
        is_wrong=True,
    ),
    _Rule(
        lambda s: s.cluster.shares_ports and s.cluster.route == "moved" and bool(s.cluster.node),
        'cluster.shares_ports: so nobody can be sent to this node alone: set cluster.route = "proxy"',
        is_wrong=True,
    ),
    _Rule(
        lambda s: bool(s.cluster.node and s.access.moved_to),
        "access.moved_to: set, so this node sends everybody away and takes up no table: take cluster.node out",
        is_wrong=True,
    ),
    _Rule(
        lambda s: not s.cluster.node and s.cluster != ClusterSettings(),
        "cluster.node: empty, so this is the only server on its database, and no other setting of cluster is used",
    ),
    _Rule(
        lambda s: s.match.decision_ms == 0 and s.match.bank_ms > 0,
        "match.bank_ms: never used, as match.decision_ms = 0 sets no time for a decision",
    ),
)


def contradictions(settings: Settings) -> Iterator[CheckResult]:
    """Say which settings contradict each other."""
    for rule in _RULES:
        if rule.applies(settings):
            yield (wrong if rule.is_wrong else note)(rule.text.format(settings))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_YEAR: Final = 2026  # no machine that runs this is in an earlier one
_SLACK_S: Final = 60  # by which a file may seem newer than now


class ListenAddress(NamedTuple):
    """Where something listens, and which settings name host and port; alone if it is its section's only one."""

    host: str
    port: int
    setting: str
    port_setting: str
    is_alone: bool = True

    @property
    def section(self) -> str:
        """The section of the settings that it is in."""
        return self.setting.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.section}: port {self.port} of {self.host}"


def look_at_name(settings: Settings) -> Iterator[CheckResult]:
    """Look at the address that players are told."""
    public, port = settings.listen.public_host, settings.listen.port
    if is_local(settings):
        yield note(
            "listen.public_host: not set, so invites lead to this machine only; set the name that players use"
        )
    if public and settings.access.moved_to == f"{public}:{port}":
        yield wrong(
            "access.moved_to: is this server itself, and everybody would be sent in a circle: take it out"
        )


def look_at_ports(settings: Settings) -> Iterator[CheckResult]:
    """Try to listen where the server will, on every address."""
    listen, metrics, inner = settings.listen, settings.metrics, settings.cluster.inner
    for host in listen.hosts:
        place = ListenAddress(host, listen.port, "listen.hosts", "listen.port")
        yield from _try_to_listen(place._replace(is_alone=len(listen.hosts) == 1))
    if metrics.port:
        yield from _try_to_listen(ListenAddress(metrics.host, metrics.port, "metrics.host", "metrics.port"))
    if settings.web.listen:
        yield from _try_to_listen(ListenAddress(*settings.web.place, "web.listen", "web.listen"))
    if inner.startswith("/"):
        yield from look_at_inner_socket(inner)
    elif inner:
        yield from _try_to_listen(ListenAddress(*host_and_port(inner), "cluster.inner", "cluster.inner"))


def look_at_socket(folder: Folder) -> Iterator[CheckResult]:
    """Check that the path of the socket of `truc-server admin` is short enough."""
    length = len(os.fsencode(folder.admin_socket.absolute()))
    if length > MAX_PATH:
        yield wrong(
            f"data folder: {folder.admin_socket.absolute()} has {length} bytes, and the system takes {MAX_PATH} for a"
            " socket: truc-server admin will not work; choose a folder with a shorter name"
        )


def look_at_inner_socket(path: str) -> Iterator[CheckResult]:
    """Check that a socket for other nodes of this machine can stand at a path."""
    length, folder = len(os.fsencode(path)), Path(path).parent
    if length > MAX_PATH:
        yield wrong(
            f"cluster.inner: {path} has {length} bytes, and the system takes {MAX_PATH} for a socket: choose a shorter path"
        )
    elif why := why_closed(folder) if folder.is_dir() else "no such folder":
        yield wrong(f"cluster.inner: expected to make a socket in {folder}, got {why}")


def look_at_clock(folder: Folder, now: float) -> CheckResult:
    """Check that the clock is not behind what has happened; `now` is Unix time in seconds."""
    says = format_minute(int(now * 1_000))
    if datetime.fromtimestamp(now, UTC).year < _YEAR:
        return wrong(f"clock: it says {says}: set it, bans, invites and changes of the key go by it")
    newest = max((_changed(path) for path in (folder.database, folder.rolls, folder.identity)), default=0.0)
    if newest > now + _SLACK_S:
        changed = format_minute(int(newest * 1_000))
        return wrong(f"clock: it says {says}, but the data folder was changed at {changed}: set it")
    return right(f"clock: {says}")


def _changed(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _try_to_listen(place: ListenAddress) -> Iterator[CheckResult]:
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        yield wrong(
            f"{place.section}: {place.host} is no address of this machine: {error.strerror}; change {place.setting}"
        )
        return
    for family, *_, address in found:
        try:
            with bound_socket(family, address, is_shared=False) as tried:
                tried.listen()
        except OSError as error:
            yield _listening_failed(place, error)


def _listening_failed(place: ListenAddress, error: OSError) -> CheckResult:
    if error.errno == errno.EADDRINUSE:
        return wrong(f"{place} is in use by another program: stop it, or change {place.port_setting}")
    if error.errno == errno.EACCES:
        return wrong(
            f"{place} may not be listened on by this user: choose one above 1023 as {place.port_setting}"
        )
    if error.errno in MISSING_ADDRESS and is_wildcard(place.host) and not place.is_alone:
        return note(f"{place.section}: this machine has no such address as {place.host}")  # the others serve
    return wrong(f"{place} cannot be listened on: {error.strerror}; change {place.setting}")


def look_at_keys(settings: Settings, folder: Folder, now: int) -> Iterator[CheckResult]:
    """Look at the identity keys, the key for secrets and the passphrase; `now` is Unix time in seconds."""
    try:
        if folder.identity.exists() or folder.database.exists():
            yield from _look_at_used(settings, folder, now)
        else:
            yield from _look_at_new(settings.store.passphrase_file)
    except (FolderError, IdentityError) as error:
        yield wrong(f"keys: {error}")
    except OSError as error:
        yield wrong(f"keys: cannot read {error.filename}: {error.strerror}")


def _look_at_new(passphrase_file: str) -> Iterator[CheckResult]:
    if passphrase_file:
        read_passphrase(path_of(passphrase_file))
    sealed = f", sealed with the passphrase in {passphrase_file}" if passphrase_file else ""
    yield right(f"keys: will be made at the first start{sealed}")


def _look_at_used(settings: Settings, folder: Folder, now: int) -> Iterator[CheckResult]:
    identity = read_public(folder)
    check_in_force(identity)
    yield from _look_at_seals(settings, folder)
    yield right(f"keys: fingerprint {identity.fingerprint}, serial {identity.serial}")
    yield from _look_at_clock(identity, now)


def _look_at_seals(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    plain = unsealed_files(folder)
    is_sealed = folder.identity not in plain
    if is_sealed and plain:
        names = ", ".join(map(str, plain))
        yield wrong(f"passphrase: {names} not sealed, although others are: run truc-server key passphrase")
    if is_sealed and not settings.store.passphrase_file:
        yield note(
            "passphrase: asked for at every start, at the terminal; a service needs store.passphrase_file"
        )
        return
    read_identity(folder, passphrase_of(settings, folder))
    if settings.store.passphrase_file:
        yield right(f"passphrase: {settings.store.passphrase_file} opens the keys")


def _look_at_clock(identity: PublicIdentity, now: int) -> Iterator[CheckResult]:
    if identity.rotations and now < (made := made_at(identity.rotations[-1])):
        days = -(-(made - now) // 86_400)
        yield wrong(
            f"clock: the key was changed up to {days} days from now by this machine's clock: set the clock, as players'"
            " clients refuse a key to come"
        )


@click.command()
@server_options
def check(file: Path | None, **flags: object) -> None:
    """Say what is wrong with settings, certificate, data folder, variants, keys, ports, database, disk and limits, and what to do; change nothing."""
    settings = load_settings(file, flags)
    findings = (right("settings: in range"), *_look(settings))
    for finding in findings:
        click.echo(finding.line)
    if not all(finding.is_right for finding in findings):
        raise click.exceptions.Exit(1)


def _look(settings: Settings) -> Iterator[CheckResult]:
    folder, now = Folder(data_root(settings)), time.time()
    yield from contradictions(settings)
    yield from look_at_name(settings)
    yield _look_at_files(settings)
    yield from look_at_socket(folder)
    yield from look_at_certificate(settings, folder)
    yield from look_at_web_certificate(settings)
    if not folder.root.exists():
        yield _look_at_place(folder.root)
        yield from look_at_ports(settings)
        return
    yield _look_at_folder(folder)
    yield from _look_at_start(settings, folder)
    yield from _look_at_variants(folder)
    yield from look_at_keys(settings, folder, int(now))
    yield from _look_at_lock(settings, folder)
    yield _look_at_database(settings, folder)
    yield from _look_at_nodes(settings, folder)
    yield _look_at_disk(settings, folder)
    yield look_at_clock(folder, now)


def _look_at_database(settings: Settings, folder: Folder) -> CheckResult:
    # Slow to import, and needed by `check` alone.
    from truc_server.storage.engine import inspect_server
    from truc_server.storage.sqlite_file import inaccessible_file, inspect, why_inaccessible

    if settings.store.url.startswith("sqlite"):
        return note("database: store.url names another file, which is not looked at")
    if settings.store.url:
        return _database_result(inspect_server(settings.store.url))
    if not folder.database.exists():
        return _no_database(folder)
    if closed := inaccessible_file(folder.database):
        remedy = "" if is_read_only(closed) else ": give it to the server's"
        return wrong(f"database: {why_inaccessible(closed)}{remedy}")
    found = inspect(folder.database)
    if found.problem is not None:
        return wrong(f"database: {folder.database}: {found.problem}; restore it from a backup")
    return _database_result(found)


def _database_result(found: "Inspection") -> CheckResult:
    if found.problem is not None:
        return wrong(f"database: {found.problem}")
    if found.is_newer:
        return wrong(
            f"database: schema {found.revision} was made by a newer version, which this one does not open"
        )
    if found.revision is None:
        return right("database: empty, it will be made at the next start")
    older = ", which the next start brings up to date" if found.is_older else ""
    return right(f"database: sound, schema {found.revision}{older}")


def _no_database(folder: Folder) -> CheckResult:
    if folder.identity.exists():
        return note(
            "database: not there: the next start makes an empty one, as it should after truc-server init;"
            " if a server has run here, restore it from a backup"
        )
    return right("database: will be made at the first start")


def _look_at_disk(settings: Settings, folder: Folder) -> CheckResult:
    free_mb = disk.free_bytes(folder.root) // disk.MB
    spare_mb = settings.store.spare_mb
    text = f"disk: {free_mb} MB free, store.spare_mb keeps {spare_mb} of them from new tables and matches"
    is_nearly_full = not settings.store.url and free_mb < max(spare_mb, 1)
    return wrong(f"{text}: none begins until there is room") if is_nearly_full else right(text)


def _look_at_start(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    try:
        check_may_start(folder, moved_to=settings.access.moved_to)
    except FolderError as error:
        yield wrong(f"start: {error}")


def _look_at_lock(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    try:
        holder = lock_holder(folder)
    except FolderError as error:
        yield wrong(f"lock: {error}")
        return
    if holder is not None:
        who = "" if holder.pid is None else f", process {holder.pid}"
        yield right(f"lock: a server is running in the data folder{who}")
        return
    # Only now: while a server runs, the ports are in use by itself.
    yield right("lock: free, no server is running in the data folder")
    yield from look_at_ports(settings)


def _look_at_files(settings: Settings) -> CheckResult:
    needed, allowed = needed_files(settings), allowed_files()
    limit = "any number" if allowed is None else str(allowed)
    text = f"open files: {needed} needed for limits.connections, {limit} allowed (ulimit -Hn)"
    if allowed is None or needed <= allowed:
        return right(text)
    return wrong(f"{text}: raise the limit or lower limits.connections")


def _look_at_folder(folder: Folder) -> CheckResult:
    mode = stat.S_IMODE(folder.root.stat().st_mode)
    if not folder.root.is_dir():
        return wrong(f"data folder: expected a folder, got {folder.root}: choose another with --data")
    if why := why_closed(folder.root):
        return wrong(f"data folder: expected to read and write {folder.root}, got {why}")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return wrong(
            f"data folder: {folder.root} is open to other users (mode {mode:04o}): run chmod 700 {folder.root}"
        )
    return right(f"data folder: {folder.root}")


def _look_at_place(root: Path) -> CheckResult:
    """Look at where a data folder that is not there yet will be made."""
    there = next(above for above in root.absolute().parents if above.exists())
    if why := why_closed(there) if there.is_dir() else f"expected a folder, got {there}":
        return wrong(f"data folder: {root} cannot be made: {why}")
    return right(f"data folder: {root} will be made at the first start")


def _look_at_variants(folder: Folder) -> Iterator[CheckResult]:
    try:
        catalogue = read_catalogue(folder.variants)
    except VariantsError as error:
        yield from map(wrong, error.problems)
        return
    yield right(f"variants: {', '.join(catalogue.own()) or 'none of your own'}")
    yield from map(note, catalogue.notes())


def _look_at_nodes(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    """Look at the nodes on the database, and compare the keys in the folder with theirs."""
    # Slow to import, and needed on a node alone.
    from truc_server.storage.node_keys import compare_keys, keys_of, read_nodes

    name = settings.cluster.node
    if not (name and settings.store.url.startswith("postgresql")):
        return
    try:
        nodes, known = read_nodes(settings.store.url)
    except StoreError as error:
        yield note(f"cluster: the other nodes are not known: {error}")
        return
    others = [node for node in nodes if node.name != name and node.runs]
    yield right(f"cluster: node {name}, beside {', '.join(node.name for node in others) or 'no other'}")
    inner = settings.cluster.inner
    if taken := [node.name for node in others if inner and node.place.inner == inner]:
        yield wrong(f"cluster.inner: node {taken[0]} has the same: each node needs its own")
    try:
        # A check asks nobody for a passphrase.
        is_asked_for = not settings.store.passphrase_file and has_passphrase(folder)
        if known is None or is_asked_for:
            return
        keys = keys_of(read_identity(folder, passphrase_of(settings, folder)))
        compare_keys(known, keys, [node.name for node in others])
    except StoreError as error:
        yield wrong(f"cluster: {error}")
    except (IdentityError, FolderError):
        return  # what is wrong with the keys themselves is said of them
    else:
        yield right("cluster: the keys are those of the nodes")
