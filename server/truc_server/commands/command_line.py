"""What the commands of `truc-server` share: their options, the settings in force, and how a failure is reported.

Invariant: whatever is wrong is one line on standard error; exit status 2 for settings and usage, 1 for the rest.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_origin

import click

from truc_commands.completion import KnownValues
from truc_commands.files import MAX_TEXT, is_homeless, path_of, read_bounded
from truc_protocol.crypto.keys import KeyFileError
from truc_protocol.wire.transport import scheme
from truc_server.identity.certificate import TlsError
from truc_server.identity.key_files import IdentityError
from truc_server.settings.folder import Folder, FolderError, default_root, used_folder
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.settings_file import FILE_VARIABLE, KEYS, choices_of, load, plain_type
from truc_server.settings.subjects import normal_key
from truc_server.storage import StoreError

if TYPE_CHECKING:
    from truc_server.storage.sql import Store


_Command = TypeVar("_Command", bound=Callable[..., None])


class CommandError(click.ClickException):
    """Something that ends the command: one line, exit status 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line on standard error."""
        click.echo(f"truc-server: {self.message}", file=file, err=file is None)


class WrongSettingsError(CommandError):
    """A wrong setting or variant; exit status 2."""

    exit_code = 2


def system_error(error: OSError) -> CommandError:
    """Return the error that ends a command when the system refuses it something."""
    return CommandError(_message_of(error))


class Flag(NamedTuple):
    """A flag of the command line, the setting it overrides, and its line in the help."""

    flag: str
    key: str
    line: str


_FLAGS: Final = {
    "data": Flag("--data", "data", "Data folder."),
    "hosts": Flag("--host", "listen.hosts", "Address to listen on; may be given several times."),
    "port": Flag("--port", "listen.port", "TCP port; 0 takes a free one."),
    "public_host": Flag("--public-host", "listen.public_host", "Name or address that players use."),
    "name": Flag("--name", "name", "Name of the server."),
    "tls": Flag("--tls", "listen.tls", "Encrypt connections; a certificate is made if there is none."),
    "log_format": Flag("--log-format", "log.format", "human or json."),
    "log_level": Flag("--log-level", "log.level", "debug, info, warning or error."),
    "grease": Flag("--grease", "grease", "Send what no client knows yet, to test clients."),
    "members": Flag("--members", "access.members", "Who may log in: anyone, keys or invite."),
    "metrics_port": Flag(
        "--metrics-port", "metrics.port", "HTTP port of /metrics and /health, on this machine."
    ),
    "passphrase_file": Flag(
        "--passphrase-file",
        "store.passphrase_file",
        "File whose first line is a passphrase: the keys are sealed with it.",
    ),
}


def setting_options(*names: str) -> Callable[[_Command], _Command]:
    """Return a decorator that gives a command the flags that override these settings, in this order."""

    def decorate(command: _Command) -> _Command:
        for name in reversed(names):  # the option that a function is given last comes first in its help
            command = _option(name, _FLAGS[name])(command)
        return command

    return decorate


def _option(name: str, flag: Flag) -> Callable[[_Command], _Command]:
    """Return the option of a flag, of the type of its setting; its range is checked with the settings."""
    kind = plain_type(KEYS[flag.key].type)
    if kind is bool:
        return click.option(flag.flag, name, is_flag=True, default=None, help=flag.line)
    if words := choices_of(flag.key):
        return click.option(flag.flag, name, type=KnownValues(lambda: words, or_file=False), help=flag.line)
    is_list = get_origin(kind) is tuple
    return click.option(flag.flag, name, type=int if kind is int else str, multiple=is_list, help=flag.line)


STORE_SETTINGS: Final = frozenset({"data", "store.url", "store.passphrase_file"})
"""The settings that lead to what a server has stored."""


def _folder(_context: click.Context, _parameter: click.Parameter, named: str | None) -> str | None:
    if named == "":  # as of a variable that is not set; the user's own folder would be another server
        raise click.BadParameter("expected a folder, got nothing")
    return named


def server_options(command: _Command) -> _Command:
    """Give a command the options that say which server is meant, by its settings file or its data folder."""
    settings = click.option(
        "--settings",
        "file",
        type=click.Path(path_type=Path),
        help="Settings file [truc.toml in the data folder].",
    )
    return settings(click.option("--data", callback=_folder, help=_FLAGS["data"].line)(command))


def data_root(settings: Settings) -> Path:
    """Return where the data folder is.

    Raises:
        CommandError: In a home folder that is not known.
    """
    root = path_of(settings.data) if settings.data else default_root(os.environ)
    if is_homeless(root):
        raise CommandError(f"{root}: no such home folder; choose another with --data")
    return root


def load_settings(
    file: Path | None, flags: Mapping[str, object], *, needs: Collection[str] = KEYS
) -> Settings:
    """Return the settings in force, from file, environment and flags; those that are not needed have their defaults.

    Raises:
        WrongSettingsError: One of those that are needed is wrong.
    """
    given = _given(flags)
    # A command reads no more than it needs: a mistake about the next start must not keep a host from a
    # backup, or from the server that runs. If flags and environment name all of that, not even the file.
    path = None if all(_overrides_file(name, given) for name in needs) else settings_path(file, flags)
    try:
        text = None if path is None else (str(path), read_bounded(path, MAX_TEXT).decode())
        return load(file=text, environ=os.environ, flags=given, needs=needs)
    except SettingsError as error:
        raise WrongSettingsError(str(error)) from error
    except UnicodeDecodeError as error:
        raise WrongSettingsError(f"cannot read the settings file {path}: expected UTF-8") from error
    except OSError as error:
        raise WrongSettingsError(f"cannot read the settings file {path}: {error.strerror}") from error


def new_settings(flags: Mapping[str, object], web: Mapping[str, object]) -> Settings:
    """Return the settings of a new server: from flags alone, except the data folder, which the environment may name.

    `web` has what --web stands for, by its keys.

    Raises:
        WrongSettingsError: One of them is wrong.
    """
    variable = KEYS["data"].variable
    environ = {variable: os.environ[variable]} if variable in os.environ else {}
    given = _given(flags) | {key: ("--web", value) for key, value in web.items()}
    try:
        return load(file=None, environ=environ, flags=given)
    except SettingsError as error:
        raise WrongSettingsError(str(error)) from error


def _given(flags: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    return {
        _FLAGS[name].key: (_FLAGS[name].flag, value)
        for name, value in flags.items()
        if value not in {None, ()}
    }


def _overrides_file(name: str, given: Mapping[str, object]) -> bool:
    return name in given or KEYS[name].variable in os.environ


def as_arguments(flags: Mapping[str, object], *, but: Collection[str]) -> list[str]:
    """Return flags as arguments for another command, except for some of them."""
    arguments: list[str] = []
    for name, value in flags.items():
        if name in but or value in {None, ()}:
            continue
        if isinstance(value, bool):
            arguments += [_FLAGS[name].flag] if value else []
            continue
        for one in value if isinstance(value, tuple) else (value,):
            arguments += [_FLAGS[name].flag, str(one)]
    return arguments


def settings_path(file: Path | None, flags: Mapping[str, object]) -> Path | None:
    """Return the settings file in force, or None if there is none."""
    return file or _default_file(flags.get("data"))


_EXPECTED: Final = (FolderError, TlsError, IdentityError, KeyFileError, StoreError, OSError)


@contextmanager
def report_failures() -> Iterator[None]:
    """Report what is wrong around the server in one line."""
    try:
        yield
    except _EXPECTED as error:
        raise CommandError(_message_of(error)) from error
    # Nurseries raise groups. If one error in it is unexpected, all of it is shown, as a traceback.
    except BaseExceptionGroup as group:
        known, other = group.split(_EXPECTED)
        if known is None or other is not None:
            raise
        raise CommandError("; ".join(map(_message_of, _leaves(known)))) from group


def _message_of(error: BaseException) -> str:
    """Return what is wrong in words; the system's own errors name the file, if there is one."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _default_file(data: object) -> Path | None:
    if named := os.environ.get(FILE_VARIABLE):
        return Path(named)
    root = data or os.environ.get(KEYS["data"].variable)
    file = Folder(path_of(str(root)) if root else default_root(os.environ)).settings
    return file if file.exists() else None


_DAY_HOURS: Final = 24
_MOST_DAYS: Final = 3_650


def duration_options(command: _Command) -> _Command:
    """Give a command the options that say how long."""
    days = click.option("--days", type=click.IntRange(1, _MOST_DAYS), help="For this many days [for ever].")
    hours = click.option(
        "--hours", type=click.IntRange(1, _MOST_DAYS * _DAY_HOURS), help="Or for this many hours."
    )
    return days(hours(command))


def span_hours(days: int | None, hours: int | None) -> int | None:
    """Return for how many hours; None is for ever.

    Raises:
        click.UsageError: Both were given.
    """
    if days is not None and hours is not None:
        raise click.UsageError("expected --days or --hours, got both")
    return hours if days is None else days * _DAY_HOURS


def read_fingerprint(key: str) -> str:
    """Return an argument that is a fingerprint, or the fingerprint of one that is a key.

    Raises:
        click.BadParameter: It is neither.
    """
    found = normal_key(key)
    if found is None:
        raise click.BadParameter(
            f"expected a fingerprint of 26 characters or a key of 64 hexadecimal digits, got {key!r}"
        )
    return found


def format_minute(at_ms: int, form: str = "%Y-%m-%d %H:%M UTC") -> str:
    """Return a time as commands print it; a damaged one, which no calendar has, is a hyphen."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(form)
    except (ValueError, OverflowError):
        return "-"


def database_url(settings: Settings, folder: Folder) -> str:
    """Return where the database is: in the data folder, unless store.url names another."""
    return settings.store.url or f"sqlite:///{folder.database}"


@contextmanager
def server_folder(
    file: Path | None, flags: Mapping[str, object], *more: str
) -> Iterator[tuple[Settings, Folder]]:
    """Give the data folder of a server that has run, and report what is wrong with it or with what is done there.

    Gives the settings too: those that lead to what is stored, and `more`.
    """
    settings = load_settings(file, flags, needs=STORE_SETTINGS | set(more))
    with report_failures():
        yield settings, used_folder(data_root(settings))


@contextmanager
def server_store(
    file: Path | None, flags: Mapping[str, object], *more: str
) -> "Iterator[tuple[Settings, Store]]":
    """Open the database of a server that has run, and report what is wrong; nothing is claimed, so it may go on running.

    Yields the settings too: those that lead to the database, and `more`.
    """
    # Slow to import.
    from truc_server.storage.sql import open_store

    with (
        server_folder(file, flags, *more) as (settings, folder),
        closing(open_store(database_url(settings, folder))) as store,
    ):
        yield settings, store


# The address of this machine itself, for a server that listens on all that it has.
_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def address(settings: Settings, port: int, fingerprint: str, invite: str | None = None) -> str:
    """Return the address to give to players, `truc://HOST:PORT?invite=CODE#FINGERPRINT`; with TLS it is `trucs://`.

    Only a closed server's has an invite.
    """
    first = settings.listen.hosts[0]
    host = settings.listen.public_host or _LOOPBACK.get(first, first)
    query = "" if invite is None else f"?invite={invite}"
    place = f"[{host}]" if ":" in host else host
    return f"{scheme(is_tls=settings.listen.tls)}{place}:{port}{query}#{fingerprint}"


def is_wildcard(host: str) -> bool:
    """Tell whether listening on a host means every address of its kind that the machine has."""
    return host in _LOOPBACK


def is_local(settings: Settings) -> bool:
    """Tell whether the address works on this machine only."""
    return not settings.listen.public_host and settings.listen.hosts[0] in _LOOPBACK
