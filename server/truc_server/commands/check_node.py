"""What `truc-server check` says of a node: the others on its database, and whether it has their keys."""

from collections.abc import Iterator

from truc_server.identity.identity import has_passphrase, read_identity
from truc_server.identity.key_files import IdentityError
from truc_server.identity.passphrases import passphrase_of
from truc_server.settings.findings import CheckResult, note, right, wrong
from truc_server.settings.folder import Folder, FolderError
from truc_server.settings.settings import Settings
from truc_server.storage import Node, StoreError


def look_at_nodes(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    """Look at the nodes on the database, and compare the keys in the folder with theirs."""
    # Slow to import, and needed on a node alone.
    from truc_server.storage.node_keys import compare, keys_of, look

    name = settings.cluster.node
    if not (name and settings.store.url.startswith("postgresql")):
        return
    try:
        nodes, known = look(settings.store.url)
    except StoreError as error:
        yield note(f"cluster: the other nodes are not known: {error}")
        return
    others = [node for node in nodes if node.name != name and _runs(node)]
    yield right(f"cluster: node {name}, beside {', '.join(node.name for node in others) or 'no other'}")
    inner = settings.cluster.inner
    if taken := [node.name for node in others if inner and node.place.inner == inner]:
        yield wrong(f"cluster.inner: node {taken[0]} has the same: each node needs its own")

    if known is None or not folder.identity.exists() or _asks(settings, folder):
        return
    try:
        keys = keys_of(read_identity(folder, passphrase_of(settings, folder)))
        compare(known, keys, [node.name for node in others])
    except StoreError as error:
        yield wrong(f"cluster: {error}")
    except (IdentityError, FolderError):
        return  # what is wrong with the keys themselves is said of them
    else:
        yield right("cluster: the keys are those of the nodes")


def _runs(node: Node) -> bool:
    return node.left_ms is None or node.left_ms > 0


def _asks(settings: Settings, folder: Folder) -> bool:
    """Tell whether the keys can be opened only by somebody at the terminal."""
    return not settings.store.passphrase_file and has_passphrase(folder)
