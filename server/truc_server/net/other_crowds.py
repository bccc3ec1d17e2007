"""How many connections other nodes have from each network, as these have told a moment ago.

Invariant: what a node has told counts until it tells otherwise, or is gone; of networks without a connection no more are
remembered than of those that are limited here.
"""

from collections.abc import Iterable
from typing import NamedTuple

from truc_server.storage.told import ToldCrowd
from truc_server.timing.rate_limits import SUBJECTS, site_of


class Fresh(NamedTuple):
    """How many connections have come, and how many logins have failed, since a node told last."""

    came: int
    failed: int


class OtherCrowds:
    """The connections of other nodes, by network and by site."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, ToldCrowd]] = {}  # by node; the network told of last comes last
        self._networks: dict[str, int] = {}
        self._sites: dict[str, int] = {}

    def __len__(self) -> int:
        """The number of networks about which anything is kept, once for each node."""
        return sum(map(len, self._told.values()))

    def connections(self, network: str, site: str) -> tuple[int, int]:
        """Return how many connections of a network, and how many of its site, other nodes have."""
        return self._networks.get(network, 0), self._sites.get(site, 0)

    def hear(self, node: str, told: Iterable[ToldCrowd]) -> dict[str, Fresh]:
        """Take up what a node tells of networks; return what has come since, nothing of a node heard for the first time."""
        is_new = node not in self._told
        crowds = self._told.setdefault(node, {})
        fresh = {crowd.network: self._hear(crowds, crowd) for crowd in told}
        return {} if is_new else fresh

    def _hear(self, crowds: dict[str, ToldCrowd], told: ToldCrowd) -> Fresh:
        before = crowds.pop(told.network, ToldCrowd(told.network, 0, 0, 0))
        crowds[told.network] = told
        self._count(told.network, told.connections - before.connections)
        self._forget(crowds)
        return Fresh(_more(before.came, told.came), _more(before.failed, told.failed))

    def lose(self, node: str) -> None:
        """Count no more what a node has told that is gone."""
        for crowd in self._told.pop(node, {}).values():
            self._count(crowd.network, -crowd.connections)

    def _count(self, network: str, change: int) -> None:
        for counted, subject in ((self._networks, network), (self._sites, site_of(network))):
            counted[subject] = counted.get(subject, 0) + change
            if not counted[subject]:
                del counted[subject]

    def _forget(self, crowds: dict[str, ToldCrowd]) -> None:
        if len(crowds) > SUBJECTS:
            oldest = next(iter(crowds))
            self._count(oldest, -crowds.pop(oldest).connections)


def _more(before: int, now: int) -> int:
    """Return how many have come since a count; a smaller one was begun anew."""
    return now - before if now >= before else now
