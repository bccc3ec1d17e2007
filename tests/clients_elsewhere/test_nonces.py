"""The nonce of a table is one server's: another that uses it too is not to blame, and uses up nothing."""

from pathlib import Path

from client.strict import Strict
from clients_elsewhere.programs import in_node, needs_node

LIBRARY = Path(__file__).resolve().parents[2] / "client" / "truc_web" / "lib"
AGREE = """
const [library, ...given] = process.argv.slice(1)
const { Seat } = await import(`${library}/seat.mjs`)
const { playerOf } = await import(`${library}/login.mjs`)
const { fromHex } = await import(`${library}/bytes.mjs`)
const { Setup } = await import(`${library}/proof/setup.mjs`)
const { MODES } = await import(`${library}/proof/audit.mjs`)
const store = { kept: { master: new Uint8Array(32), pins: {}, tables: {} }, save: async () => {} }
while (given.length > 0) {
  const [key, doc, body, sig] = given.splice(0, 4).map(fromHex)
  const setup = new Setup(doc, await import(`${library}/rules/index.mjs`), MODES)
  await setup.attest({ signer: 0, body, sig })
  setup.take({ signer: 0, body, sig })
  const { rules, seats: n, policy } = setup.terms
  const seat = new Seat(store, await playerOf(store.kept.master, { first: key, present: key }), key)
  const shown = { rules, n, policy, opts: Object.values(setup.opts) }
  await seat.agree({ doc, record: [0, body, sig] }, 0, shown).then(() => console.log('signed'), ({ check, culprit }) => console.log(check, culprit))
}
"""


def server_of(seed: int) -> Strict:
    """Return a server that gives every table the same nonce."""
    server = Strict(seed=seed)
    server.nonce = lambda: bytes(range(32))
    return server


def agreed(*servers: Strict) -> list[str]:
    """Let one client agree to terms of one server after the other; return what it says of each."""
    offered = [(server.key.public, server.document, *server.make_terms()[1:]) for server in servers]
    given = [part.hex() for terms in offered for part in terms]
    return in_node(AGREE, str(LIBRARY), *given).splitlines()


@needs_node
def test_nonce_of_another_servers_table_is_free() -> None:
    assert agreed(server_of(1), server_of(2)) == ["signed", "signed"]


@needs_node
def test_nonce_of_the_same_servers_table_is_not() -> None:
    server = server_of(1)
    assert agreed(server, server) == ["signed", "C9 0"]
