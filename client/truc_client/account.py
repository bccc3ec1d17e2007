"""Who plays: a player with a key, or a guest; with the home that remembers them."""

from dataclasses import dataclass, field

from truc_client.home import Home, master_seed, player_key
from truc_client.store import Store
from truc_protocol.keys import SigningKey


@dataclass(frozen=True, slots=True)
class Player:
    """A player as `connect` takes one: the home that holds key and memory, and the name shown.

    A guest has no key: the server may have chosen a guest's cards and acts.
    """

    home: Home
    name: str
    is_guest: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """A player with the store open."""

    home: Home
    name: str
    is_guest: bool
    store: Store = field(repr=False)

    def key(self, first_spk: bytes) -> SigningKey:
        """Return the key for one server, by the first key pinned for it."""
        return player_key(master_seed(self.home), first_spk)


def open_account(player: Player) -> Account:
    """Open the player's store.

    Raises:
        HomeError: It cannot be used.
    """
    return Account(player.home, player.name, player.is_guest, Store(player.home.state))
