"""Letting go of tables without cutting a hand off: before the server stops, or to other nodes.

While the server drains, `ServerDrain` keeps new tables, matches, hands and newcomers out; here is how long that lasts. A
node gives tables to others: one that the host names, or all when it is about to stop; each when its hand is over. A table
that is given is stopped and forgotten here in the same step that writes it down, so that whatever comes for it later finds
no table. Its followers stay connected until the other node has it, and are then sent there, or told to come again.
Invariants: nothing is written about a table after it was given; a table whose match is held after a restore is not given,
as only this node knows that it was.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import structlog
import trio

from truc_protocol.records import Phase
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import RefusedRequestError
from truc_server.operation import notify
from truc_server.parts import ServerParts
from truc_server.storage import Node, NodeOrder, StoreError, TableOwner
from truc_server.storage.journal import JournalStoppedError
from truc_server.table_data.codes import label
from truc_server.tables.table import Table

LOOK_S: Final = 0.2  # between two checks whether a hand is over
ORDERS_S: Final = 1.0  # between two looks for orders that another node was told
# for the other node to have what it was given, before those who wait are told to come again
TAKEN_S: Final = 10.0
# With `over`: a hand that has won the match still has to be closed, and the end to be written.
_UNDER_WAY: Final = (Phase.CALLED, Phase.HAND, Phase.OVER)

log = structlog.get_logger()


class GivingError(Exception):
    """A table that cannot be given away; the text says why."""


def is_in_hand(table: Table) -> bool:
    """Tell whether a hand is called or dealt and being played: not in a pause, nor with no seat connected."""
    if table.game is None or table.board.state != "playing" or not table.audience.online:
        return False
    ledger = table.game.ledger
    return ledger.phase in _UNDER_WAY and not (ledger.pause.active or table.game.hold.is_on)


def _is_held(table: Table) -> bool:
    return table.game is not None and table.game.hold.is_on


class MovedTable(NamedTuple):
    """A table that goes to another node: its code, who has it now, and whether it waits for the end of a hand."""

    code: str
    owner: str
    waits: bool


class TableGiver:
    """The tables of one node that others are to have."""

    def __init__(self, parts: ServerParts, drain: trio.Event) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._drain = drain
        self._wanted: dict[str, Node] = {}
        self._under_way = 0
        self._tasks: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Give what is asked for as soon as its hand is over, until cancelled."""
        async with trio.open_nursery() as self._tasks:
            task_status.started()
            self._tasks.start_soon(self._heed_orders)
            while True:
                await self._give_wanted()
                await trio.sleep(LOOK_S)

    async def move(self, code: str, name: str) -> MovedTable:
        """Let a node have a table, now or at the end of its hand; the node that has it is told, if that is another one.

        Raises:
            GivingError: There is no such table, or no node of that name can have it.
            StoreError: The store does not answer.
        """
        to = next((node for node in await self._nodes() if node.name == name), None)
        if to is None:
            raise GivingError(f"expected a node that runs and does not drain, got {name!r}")
        try:
            table = self._lobby.table(code)
        except RefusedRequestError:
            # whichever node the host asks: the one that has the table is told through the database
            return await self._let_move(code.upper(), name)
        if name == self._parts.lease.owner:
            raise GivingError(f"node {name} has table {label(table.code)} already")
        if _is_held(table):
            raise GivingError(f"table {label(table.code)} waits for its players after a restore")
        self._wanted[table.code] = to
        # from now on no hand begins here, though the one under way may take long
        table.is_leaving = True
        waits = is_in_hand(table)
        await self._give_wanted()
        return MovedTable(table.code, self._parts.lease.owner, waits=waits)

    async def _let_move(self, code: str, name: str) -> MovedTable:
        """Tell the owner of a table to let another node have it."""
        owner = await trio.to_thread.run_sync(self._parts.store.table_owner, code)
        if owner is None or owner.node in {"", self._parts.lease.owner}:
            raise GivingError(f"no table {label(code)} at any node")
        if owner.node == name:
            raise GivingError(f"node {name} has table {label(code)} already")
        await trio.to_thread.run_sync(self._parts.store.leave_order, owner.node, NodeOrder(code, name))
        return MovedTable(code, owner.node, waits=True)

    async def let_drain(self, name: str) -> None:
        """Tell another node to drain.

        Raises:
            GivingError: No other node of that name runs, or it drains already.
            StoreError: The store does not answer.
        """
        if name not in {node.name for node in await self._others()}:
            raise GivingError(f"expected another node that runs and does not drain, got {name!r}")
        await trio.to_thread.run_sync(self._parts.store.leave_order, name, NodeOrder("", ""))

    async def _heed_orders(self) -> None:
        """Do what the host has told another node to tell this one."""
        store, lease = self._parts.store, self._parts.lease
        # Kept until they are obeyed, as the store has them no more; of two about one table the later counts.
        taken: dict[str, NodeOrder] = {}
        while True:
            await trio.sleep(ORDERS_S)
            try:
                if await trio.to_thread.run_sync(store.has_orders, lease.owner):
                    for order in await trio.to_thread.run_sync(store.take_orders, lease):
                        log.info("ordered", table=label(order.code) if order.code else None, to=order.to)
                        taken[order.code] = order
                for order in tuple(taken.values()):
                    await self._obey(order)
                    del taken[order.code]
            except StoreError as error:
                log.warning("orders_not_read", reason=str(error))

    async def _obey(self, order: NodeOrder) -> None:
        if not order.code:
            self._drain.set()
            return
        try:
            await self.move(order.code, order.to)
        except GivingError as error:
            log.warning("order_not_done", reason=str(error))

    async def give_all(self) -> int:
        """Give away every table that can go, if there is a node to have it; return how many gifts are still under way.

        As nothing new begins here, each goes when its hand is over.
        """
        try:
            others = await self._others()
        except StoreError as error:
            log.warning("tables_not_given", reason=str(error))
            return self._under_way
        # whoever must go when this node ends goes where there is most room
        roomiest = min(others, key=lambda node: node.tables, default=None)
        self._parts.drain.to = "" if roomiest is None else self._way_to(roomiest.place.public)
        held = {node.name: node.tables for node in others}
        free: dict[str, list[Table]] = {node.name: [] for node in others}
        for table in self._lobby.tables() if others else ():
            if not (is_in_hand(table) or _is_held(table)):
                # each gift counts at once, or all would go to the node that had fewest at first
                least = min(held, key=held.__getitem__)
                held[least] += 1
                free[least].append(table)
        for node in others:
            self._give(free[node.name], node)
        return self._under_way

    async def _others(self) -> list[Node]:
        """Return the other nodes that may have tables."""
        return [node for node in await self._nodes() if node.name != self._parts.lease.owner]

    async def _nodes(self) -> list[Node]:
        """Return the nodes that run and do not drain."""
        nodes = await trio.to_thread.run_sync(self._parts.store.nodes)
        return [node for node in nodes if node.runs and not node.draining]

    async def _give_wanted(self) -> None:
        """Give each table that another node is to have, if its hand is over; it stays if that node takes none any more."""
        tables = {table.code: table for table in self._lobby.tables()}
        for code, node in tuple(self._wanted.items()):
            table = tables.get(code)
            if table is not None and is_in_hand(table):
                continue
            self._wanted.pop(code, None)
            # Asked again, as a hand may take long: nobody would have the table for as long as that node drains.
            may_take = table is not None and await self._may_take(node)
            if table is None or self._lobby.get(code) is not table:  # closed meanwhile
                continue
            if may_take:
                self._give([table], node)
            else:
                self._keep(table, node)

    def _keep(self, table: Table, node: Node) -> None:
        """Let a table go on here that was to go to another node."""
        log.warning(
            "order_not_done",
            table=label(table.code),
            reason=f"node {node.name} does not run any more, or drains",
        )
        table.is_leaving = False
        if not self._parts.journal.is_closed:
            table.go_on()

    def _give(self, tables: list[Table], node: Node) -> None:
        if not tables or self._tasks is None or self._parts.journal.is_closed:
            return  # a server that ends keeps what it has
        for table in tables:
            # both in one step: an act that waits for its signature meanwhile finds no table
            table.give(node.name)
            self._lobby.given(table)
        self._parts.figures.tables_given += len(tables)
        self._under_way += len(tables)
        self._tasks.start_soon(self._see_off, tables, node, self._parts.journal.gate)

    async def _see_off(self, tables: list[Table], node: Node, gate: int) -> None:
        """Wait until the other node has the tables, then send those who follow them there."""
        try:
            # only what is stored as given may be taken: after a crash the tables would still be here
            await self._parts.journal.wait_durable(gate)
        except JournalStoppedError:  # the server ends, and says so to everybody
            return
        owner: TableOwner | None = None
        with trio.move_on_after(TAKEN_S):
            while owner is None and await self._may_take(node):
                await trio.sleep(LOOK_S)
                owner = await self._owner(tables)
        log.info("tables_given", node=node.name, tables=len(tables), taken=owner is not None)
        self._send_after(tables, owner)
        self._under_way -= len(tables)

    async def _may_take(self, node: Node) -> bool:
        """Tell whether a node still runs and does not drain, as far as is known."""
        try:
            return node.name in {other.name for other in await self._others()}
        except StoreError:
            return True

    async def _owner(self, tables: list[Table]) -> TableOwner | None:
        """Return the node that has taken all of these tables; None until one has."""
        try:
            owners = [
                await trio.to_thread.run_sync(self._parts.store.table_owner, table.code) for table in tables
            ]
        except StoreError:
            return None
        return owners[-1] if all(owner is not None and owner.node for owner in owners) else None

    def _send_after(self, tables: Iterable[Table], owner: TableOwner | None) -> None:
        to = "" if owner is None else self._way_to(owner.public)
        where = f"is at {to} now" if to else "has another node now: come again"
        for table in tables:
            for peer in table.release_followers():
                peer.send_away(f"the table {where}", to=to)

    def _way_to(self, public: str) -> str:
        """Return where players are sent who are to go to a node; empty if its address leads to any node, this one too."""
        # behind one address every node is reached at the same place: the client may as well come here again
        is_sent = self._parts.settings.now.cluster.route == "moved" and public != self._parts.place.public
        return public if is_sent else ""


async def drain(parts: ServerParts, giver: TableGiver | None) -> None:
    """Let nothing new begin; return when every hand is over, or after tables.drain_s.

    A node gives its tables away first, if there is another one.
    """
    seconds = parts.settings.now.tables.drain_s
    parts.drain.by = trio.current_time() + seconds
    parts.lobby.tell_draining()
    log.info("draining", under_way=hands_under_way(parts.lobby), seconds=seconds)
    notify.tell(notify.STOPPING, status="draining: hands under way end")
    with trio.move_on_after(seconds):
        while True:
            leaving = 0 if giver is None else await giver.give_all()
            # hands alone would do for a server by itself; a node also waits until others have its tables
            if not (leaving or hands_under_way(parts.lobby)):
                break
            await trio.sleep(LOOK_S)
    log.info("drained", under_way=hands_under_way(parts.lobby))


def hands_under_way(lobby: Lobby) -> int:
    """Return how many hands are called or dealt and being played: not in a pause, nor with no seat connected."""
    return sum(map(is_in_hand, lobby.tables()))
