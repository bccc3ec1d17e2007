"""`truc-server admin`: what a host asks of the running server, over the socket in its data folder.

Each command is one line there and one back. Invariant: `--json` prints the server's answer and nothing else.
"""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from truc_server.admin import requests
from truc_server.commands.command_line import (
    CommandError,
    WrongSettingsError,
    data_root,
    duration_options,
    format_minute,
    load_settings,
    server_options,
    span_hours,
)
from truc_server.settings.folder import Folder

_PATIENCE_S: Final = 60.0  # for the answer
_CHUNK: Final = 65_536

_Command = TypeVar("_Command", bound=Callable[..., None])
_Answer = Mapping[str, Any]


def _to_server(command: _Command) -> _Command:
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print the server's answer as it is, in JSON."
    )
    return server_options(as_json(command))


def _command(
    request: type[requests.AdminRequest],
    lines: Callable[[_Answer], Iterator[str]],
    short_help: str | None = None,
) -> click.Command:
    """Return the command that makes a request: the request's fields are its arguments, and its docstring is the help."""

    def ask(*, file: Path | None, data: str | None, as_json: bool, **given: Any) -> None:
        hours = span_hours(given.pop("days", None), given.pop("hours", None))
        asked = request(**given if hours is None else {**given, "hours": hours})
        _ask(asked, lines, _folder(file, data), as_json=as_json)

    for field in reversed(msgspec.structs.fields(request)):  # the last that a function is given comes first
        if field.name == "hours":
            ask = duration_options(ask)
        else:
            # to click an argument with a default, None too, is never missing
            default = {} if field.required else {"default": field.default}
            ask = click.argument(field.name, required=field.required, **default)(ask)
    name = str(request.__struct_config__.tag)
    return click.command(name, short_help=short_help, help=request.__doc__)(_to_server(ask))


def _ask(
    request: requests.AdminRequest,
    lines: Callable[[_Answer], Iterator[str]],
    folder: Folder,
    *,
    as_json: bool,
) -> None:
    """Ask the server of a data folder, and print its answer; of the nodes of one machine any knows the cluster."""
    # The first node's word is as good as any: all of them read the cluster in the database.
    nodes = _nodes_of(folder) if isinstance(request, requests.ShowCluster) else []
    received = _answer(next(iter(nodes), folder), request)
    answer: _Answer = msgspec.json.decode(received)
    if as_json:
        click.echo(received.decode())
        if not answer["ok"]:
            raise click.exceptions.Exit(1)
        return
    if not answer["ok"]:
        raise CommandError(str(answer["error"]))
    for line in lines(answer):
        click.echo(line)


def _folder(file: Path | None, data: str | None) -> Folder:
    """Return where the server runs, whatever else the settings for its next start say."""
    # A mistake in these must not keep a host from cutting a player off now.
    try:
        return Folder(data_root(load_settings(file, {"data": data}, needs={"data"})))
    except WrongSettingsError as error:
        raise WrongSettingsError(f"{error}; with --data FOLDER no settings are read") from error


def _nodes_of(folder: Folder) -> list[Folder]:
    """Return the data folders of the nodes that run below a host's, by name; none if a server runs there itself."""
    if folder.admin_socket.exists() or not folder.nodes.is_dir():
        return []
    found = (Folder(path) for path in sorted(folder.nodes.iterdir()))
    return [node for node in found if node.admin_socket.exists()]


def _answer(folder: Folder, request: requests.AdminRequest) -> bytes:
    """Return the line that a running server answers with.

    Raises:
        CommandError: There is no answer.
    """
    path = folder.admin_socket
    try:
        requests.check_length(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(_PATIENCE_S)
            stream.connect(str(path))
            stream.sendall(msgspec.json.encode(request) + b"\n")
            return _line(stream)
    except requests.AdminError as error:
        raise CommandError(str(error)) from error
    except (FileNotFoundError, ConnectionRefusedError) as error:
        nodes = _nodes_of(folder)
        told = (
            f"its nodes are; name one with --data {nodes[0].root}" if nodes else f"nobody answers at {path}"
        )
        raise CommandError(f"no server is running in {folder.root}: {told}") from error
    except PermissionError as error:
        raise CommandError(f"{path} is not this user's: run it as the server's user, or as root") from error
    except TimeoutError as error:
        raise CommandError(f"the server has not answered within {_PATIENCE_S:g} seconds") from error
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _line(stream: socket.socket) -> bytes:
    received = bytearray()
    while not received.endswith(b"\n"):
        chunk = stream.recv(_CHUNK)
        if not chunk:
            raise CommandError("the server has ended before it answered")
        received += chunk
    return bytes(received[:-1])


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return lines in columns as wide as their contents."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(f"{word:{width}}" for word, width in zip(row, widths, strict=True)).rstrip()


def _table_of(head: Sequence[str], rows: Sequence[Sequence[str]], answer: _Answer) -> Iterator[str]:
    if rows:
        yield from _columns(head, rows)
    else:
        yield "none"
    if answer["left_out"]:
        yield f"and {answer['left_out']} more: name a part of what you look for"


def _who_lines(answer: _Answer) -> Iterator[str]:
    rows = [
        (
            str(row["connection"]),
            row["name"] or "-",
            row["tag"] or "not logged in",
            row["kind"] or "-",
            row["address"],
            format_minute(row["since_ms"]),
            " ".join(row["tables"]),
        )
        for row in answer["rows"]
    ]
    return _table_of(("no", "name", "tag", "kind", "address", "since", "tables"), rows, answer)


def _table_lines(answer: _Answer) -> Iterator[str]:
    rows = [
        (
            row["table"],
            row["state"] + (" private" if row["private"] else ""),
            row["variant"] if row["mode"] == "dealt" else f"{row['variant']} {row['mode']}",
            ", ".join(map(_seat, row["seats"])),
            "-" if row["hands"] is None else str(row["hands"]),
            str(row["watchers"]),
            format_minute(row["since_ms"]),
            (row["match"] or "-")[:16],
        )
        for row in answer["rows"]
    ]
    return _table_of(("table", "state", "variant", "seats", "deals", "watch", "since", "match"), rows, answer)


def _seat(seat: _Answer) -> str:
    if seat["name"] is None:
        return "-"
    return str(seat["name"]) if seat["online"] else f"({seat['name']})"


def _kick_lines(answer: _Answer) -> Iterator[str]:
    yield f"{answer['subject']} is cut: {_counted(answer['connections'], 'connection')}"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _imposed(state: str) -> Callable[[_Answer], Iterator[str]]:
    def lines(answer: _Answer) -> Iterator[str]:
        until = answer["until_ms"]
        end = "" if until is None else f" until {format_minute(until)}"
        yield f"{answer['subject']} is {state}{end}; {_counted(answer['connections'], 'connection')} met"

    return lines


def _lifted(state: str) -> Callable[[_Answer], Iterator[str]]:
    def lines(answer: _Answer) -> Iterator[str]:
        yield f"{answer['subject']} is not {state} any more"

    return lines


def _close_lines(answer: _Answer) -> Iterator[str]:
    when = "is closed" if answer["closed"] else "is closed in a moment, when its match has ended"
    ended = "; its match has no winner" if answer["was"] == "playing" else ""
    yield f"table {answer['table']} {when}{ended}"


def _move_lines(answer: _Answer) -> Iterator[str]:
    when = "when its hand is over" if answer["waits"] else "now"
    if answer["owner"] != answer["node"] and answer["waits"]:
        when += f", from node {answer['owner']}"
    yield f"table {answer['table']} goes to node {answer['node']} {when}"


def _cluster_lines(answer: _Answer) -> Iterator[str]:
    head = (
        "node",
        "state",
        "tables",
        "lease left",
        "renewed",
        "epoch",
        "version",
        "since",
        "players reach it at",
    )
    yield from _columns(head, [_node(row) for row in answer["nodes"]])
    if answer["unowned"]:
        yield f"{_counted(answer['unowned'], 'table')} without a node"


def _node(row: _Answer) -> Sequence[str]:
    left_ms, renewed_ms = row["left_ms"], row["renewed_ms"]
    is_over = left_ms is not None and left_ms <= 0
    return (
        row["node"] + (" (this)" if row["here"] else ""),
        "gone" if is_over else "draining" if row["draining"] else "runs",
        str(row["tables"]),
        "no end" if left_ms is None else "over" if is_over else f"{left_ms / 1000:.1f} s",
        "-" if renewed_ms is None else f"{renewed_ms / 1000:.1f} s ago",
        str(row["epoch"]),
        row["version"],
        format_minute(row["since_ms"]),
        row["public"] or "-",
    )


def _say_lines(answer: _Answer) -> Iterator[str]:
    yield f"said to {_counted(answer['connections'], 'connection')}"


def _drain_lines(answer: _Answer) -> Iterator[str]:
    if answer["node"] is not None:
        yield f"node {answer['node']} is told to drain"
        return
    hands = _counted(answer["hands"], "hand")
    already = "already " if answer["before"] else ""
    yield f"the server {already}drains: {hands} under way, at most {answer['seconds']} seconds"


def _reload_lines(answer: _Answer) -> Iterator[str]:
    yield "changed: " + (", ".join(answer["changed"]) or "nothing")
    if answer["left"]:
        yield f"left until the next start: {', '.join(answer['left'])}"
    if answer["certificate_until_ms"] is not None:
        yield f"whoever connects is shown the new certificate, good until {format_minute(answer['certificate_until_ms'])}"


def _status_lines(answer: _Answer) -> Iterator[str]:
    yield f"{answer['name']}, truc {answer['version']}, key {answer['fingerprint']}"
    yield f"port {answer['port']}, since {format_minute(answer['since_ms'])}"
    if answer["web"] is not None:
        yield f"browsers: {answer['web']}/"
    yield f"{_counted(answer['connections'], 'connection')}, {_counted(answer['players'], 'player')}"
    under_way = f"{answer['playing']} with a match, {_counted(answer['hands'], 'hand')} under way"
    yield f"{_counted(answer['tables'], 'table')}, {under_way}"
    yield f"store: {answer['store']}"
    if (bots := answer["bots"])["started"]:
        yield f"bots: {bots['connected']} of {bots['started']} connected"
    if answer["draining"]:
        yield "draining: nothing new begins, and the server stops"


admin: Final = click.Group(
    "admin",
    help="Look into the running server and change it, without stopping it.",
    commands=[
        _command(requests.Who, _who_lines, "List connections; with TEXT those that contain it."),
        _command(requests.FindTables, _table_lines, "List the tables; with TEXT those that contain it."),
        _command(requests.Kick, _kick_lines, "End every connection of SUBJECT, who may come back."),
        _command(requests.Ban, _imposed("shut out")),
        _command(requests.Mute, _imposed("muted")),
        _command(requests.Unban, _lifted("shut out")),
        _command(requests.Unmute, _lifted("muted")),
        _command(requests.CloseTable, _close_lines),
        _command(requests.MoveTable, _move_lines),
        _command(requests.ShowCluster, _cluster_lines, "Show every node on the database."),
        _command(requests.SayToAll, _say_lines),
        _command(
            requests.Drain, _drain_lines, "Let hands under way end, then stop the server, or another NODE."
        ),
        _command(requests.Reload, _reload_lines, "Read the settings and the certificate again."),
        _command(requests.Status, _status_lines),
    ],
)
