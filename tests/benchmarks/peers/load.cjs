// The load generator for servers under Node: `node load.cjs PLAN`, a plan in JSON {kind, port, pid, tables, seconds, warm_s}.
//
// At each table two seats with a connection each act as soon as it is their turn. Everything that is told is counted, and held against what
// must have happened: a game that was not really played, or a message that was lost, is a fault, and nothing is measured. It prints what
// came of it in JSON, with the names that our own generator uses.

const assert = require("node:assert/strict");
const { readFileSync, readdirSync } = require("node:fs");
const { io } = require("socket.io-client");
const { WebSocket } = require("ws");
const { TARGET, CARDS, STAKES, options } = require("./truc.cjs");

const plan = JSON.parse(process.argv[2]);
const tally = { acts: 0, hands: 0, matches: 0 };
const faults = [];
let isGoing = false;

// How often a fold may be drawn: with this a hand has as many moves as one of our own mix of games, about six.
const RASH = 0.3;

// Make a call; whatever it holds to be wrong is kept as a fault.
function guarded(call) {
  try {
    return call();
  } catch (error) {
    faults.push(error.message.split("\n").slice(0, 6).join(" "));
    isGoing = false;
  }
}

class Seat {
  constructor(table, index) {
    Object.assign(this, { table, index, state: null });
    this.socket = io(`http://127.0.0.1:${plan.port}/truc`, { transports: ["websocket"], forceNew: true, reconnection: false });
    this.socket.on("update", (match, state) => guarded(() => this.take(match, state)));
    this.socket.on("disconnect", (why) => plan.isOver || faults.push(`disconnected: ${why}`));
  }

  async connected() {
    if (!this.socket.connected) await new Promise((done) => this.socket.once("connect", done));
  }

  // Take a seat in a match.
  async join(match) {
    const joined = await post(`${match}/join`, { playerID: String(this.index), playerName: `p${this.index}` });
    this.credentials = joined.playerCredentials;
    const synced = new Promise((done) => this.socket.once("sync", (_, told) => done(told.state)));
    this.socket.emit("sync", match, String(this.index), this.credentials, 2);
    this.state = await synced;
    assert.equal(this.state._stateID, 0);
  }

  take(match, state) {
    if (match !== this.table.match) return;
    assert.equal(state._stateID, this.state._stateID + 1, "every move is told, in order");
    assert.equal(state.G.players[1 - this.index], undefined, "nobody is told the other's cards");
    this.state = state;
    if (this.index === 0) this.table.count(state);
    this.act();
  }

  act() {
    const { G, ctx, _stateID } = this.state;
    if (!isGoing || ctx.gameover || G.next !== this.index) return;
    assert.equal(ctx.currentPlayer, String(this.index));
    const possible = options(G, this.index);
    const quiet = possible.filter(([name]) => name !== "fold");
    const [type, ...args] = drawn(Math.random() > RASH ? quiet : possible);
    this.table.made[_stateID] = type;
    const payload = { type, args, playerID: String(this.index), credentials: this.credentials };
    this.socket.emit("update", { type: "MAKE_MOVE", payload }, _stateID, this.table.match, String(this.index));
  }
}

// A table of boardgame.io: one match after the other.
class Game {
  constructor() {
    this.seats = [new Seat(this, 0), new Seat(this, 1)];
  }

  async begin() {
    const { matchID } = await post("create", { numPlayers: 2 });
    Object.assign(this, { match: matchID, made: [], shown: 0, hands: 0, points: [0, 0], matches: this.matches ?? 0 });
    for (const seat of this.seats) {
      await seat.connected();
      await seat.join(matchID);
    }
  }

  go() {
    guarded(() => this.seats.forEach((seat) => seat.act()));
  }

  // Count a move, and hold what is told of a hand and of the match against what was done.
  count({ G, ctx, _stateID }) {
    tally.acts += 1;
    this.shown += this.made[_stateID - 1] === "play";
    if (G.number === this.hands) return;
    const { winner, points, how, shown, number } = G.last;
    assert.deepEqual([number, shown], [this.hands, this.shown], "a hand has the cards that were played");
    assert.ok(how === "fold" ? shown < 2 * CARDS : shown >= 4 && shown % 2 === 0, `${how} after ${shown} cards`);
    assert.ok(STAKES.includes(points));
    this.points[winner] += points;
    assert.deepEqual(G.scores, this.points, "points are those of the hands");
    Object.assign(this, { hands: this.hands + 1, shown: 0 });
    tally.hands += 1;
    if (ctx.gameover) this.end(ctx.gameover);
  }

  end({ winner }) {
    assert.ok(this.points[winner] >= TARGET && this.points[1 - winner] < TARGET);
    tally.matches += 1;
    this.matches += 1;
    this.begin().then(() => this.go(), (error) => faults.push(`next match: ${error.message}`));
  }

  // Hold both seats' last views against each other; it stands still.
  check() {
    const [mine, yours] = this.seats.map(({ state: { G, ctx, _stateID } }) => ({ ...G, players: 0, ctx, _stateID }));
    assert.deepEqual(mine, yours, "both seats were told the same");
    assert.equal(mine._stateID, this.made.length, "every move that was made has been told");
    assert.ok(this.hands + this.matches > 0, "whole hands were played");
  }
}

// A room: what one says is passed on to both, and then it is the other's turn.
class Room {
  constructor(number) {
    this.said = 0;
    this.heard = [0, 0];
    this.sockets = [0, 1].map((index) => {
      const socket = new WebSocket(`ws://127.0.0.1:${plan.port}/room${number}`);
      socket.on("message", (message) => guarded(() => this.hear(index, String(message))));
      socket.on("error", (error) => faults.push(error.message));
      return socket;
    });
  }

  async begin() {
    await Promise.all(this.sockets.map((socket) => new Promise((done) => socket.once("open", done))));
  }

  go() {
    if (!isGoing) return;
    this.said += 1;
    const act = { t: "act", id: this.said, table: "K7PQX", k: this.said, choose: "play 7e", p: 12345 };
    this.sockets[this.said % 2].send(JSON.stringify(act));
  }

  hear(index, message) {
    this.heard[index] += 1;
    const { id } = JSON.parse(message);
    assert.equal(id, this.heard[index], "everything that is said comes, in order");
    if (index === 0) tally.acts += 1;
    if (index !== id % 2) this.go(); // the other one answers
  }

  check() {
    assert.deepEqual(this.heard, [this.said, this.said]);
    assert.ok(this.said > 1);
  }
}

const drawn = (list) => list[Math.floor(Math.random() * list.length)];

async function post(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${plan.port}/games/truc/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, path);
  return answer.json();
}

// Return the seconds of processor time so far: of the main thread of what is measured, and of its others.
function usage() {
  const tasks = `/proc/${plan.pid}/task`;
  const spent = (task) => {
    try {
      return Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]) / 1e9;
    } catch {
      return 0; // the thread has ended since it was listed
    }
  };
  const all = Object.fromEntries(readdirSync(tasks).map((task) => [task, spent(task)]));
  const { [plan.pid]: main, ...others } = all;
  return { main, others: Object.values(others).reduce((sum, each) => sum + each, 0) };
}

const own = () => Object.values(process.cpuUsage()).reduce((sum, each) => sum + each, 0) / 1e6;
const isDone = (table) => {
  try {
    table.check();
    return true;
  } catch {
    return false;
  }
};
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function run() {
  const tables = Array.from({ length: plan.tables }, (_, number) => (plan.kind === "room" ? new Room(number) : new Game()));
  for (const table of tables) await table.begin();
  isGoing = true;
  tables.forEach((table) => table.go());
  await pause(plan.warm_s);
  const [counted, before, mine, begun] = [{ ...tally }, usage(), own(), performance.now()];
  await pause(plan.seconds);
  const seconds = (performance.now() - begun) / 1000;
  const [after, used] = [usage(), own() - mine];
  const came = Object.fromEntries(Object.entries(tally).map(([name, count]) => [name, count - counted[name]]));
  isGoing = false;
  for (let i = 0; i < 20 && !tables.every(isDone); i += 1) await pause(0.5); // what is on its way arrives
  tables.forEach((table) => guarded(() => table.check()));
  const [main, others] = [after.main - before.main, Math.max(0, after.others - before.others)];
  const shares = { main_s: main, others_s: others, main_share: main / seconds, others_share: others / seconds };
  return { seconds, own_share: used / seconds, ...shares, ...came, clients: 2 * plan.tables, faults: faults.slice(0, 5) };
}

run()
  .catch((error) => ({ error: error.message }))
  .then((told) => {
    plan.isOver = true;
    console.log(JSON.stringify(told));
    process.exit(0);
  });
