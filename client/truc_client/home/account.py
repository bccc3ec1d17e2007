"""Who plays: a player with a key, or a guest; with the home that remembers them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from truc_client.home.home import Home, master_seed, player_key
from truc_client.home.store import HomeStore
from truc_protocol.crypto.keys import SigningKey
from truc_protocol.wire.handshake import Fingerprint
from truc_words import Sentence, time_label


class NewKey(NamedTuple):
    """A server's key that is new to this client; `before` is the key it replaces, None at first contact."""

    server: str
    present: Fingerprint
    before: Fingerprint | None = None

    def __str__(self) -> Sentence:
        """Say it to the player."""
        key = "connecting.first_contact" if self.before is None else "connecting.new_key"
        return Sentence(key, **self._asdict())


class Delay(NamedTuple):
    """A server that accepts nobody now, with the reason it gave; it is asked again after `seconds`."""

    server: str
    seconds: float
    reason: str

    def __str__(self) -> Sentence:
        """Say it to the player."""
        time = time_label(max(1, self.seconds))
        return Sentence("connecting.delay", server=self.server, reason=self.reason, time=time)


OnNewKey = Callable[[NewKey], None]
OnDelay = Callable[[Delay], None]


def _ignore(told: NewKey | Delay) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Player:
    """A player as `connect` takes one: the home that holds key and memory, and the name to show.

    A guest has no key: the server may have chosen a guest's cards and acts. `on_new_key` is told every server key
    that is new to this client, on reconnecting too; a program for people must show it to them. `on_delay` is
    told whenever a server is too busy for this player and will be asked again later.
    """

    home: Home
    name: str
    is_guest: bool = False
    on_new_key: OnNewKey = field(default=_ignore, repr=False, compare=False)
    on_delay: OnDelay = field(default=_ignore, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Account(Player):
    """A player whose store is open."""

    store: HomeStore = field(repr=False, kw_only=True)

    def key(self, first_spk: bytes) -> SigningKey:
        """Return the player's key for one server, derived from the first key pinned for that server."""
        return player_key(master_seed(self.home), first_spk)


def open_account(player: Player) -> Account:
    """Open the player's store.

    Raises:
        HomeError: It cannot be used.
    """
    store = HomeStore(player.home.state)
    return Account(player.home, player.name, player.is_guest, player.on_new_key, player.on_delay, store=store)
