// A small Truc for two seats under boardgame.io: three cards each, three tricks, a stake that is raised, accepted or refused.
//
// Written for the benchmark as a fair likeness of a table of ours: what a seat may do depends on the same things, a hand has about as many
// moves, and a match about as many hands. What is not here: hidden deals that can be proved, and anything durable.

const { INVALID_MOVE, PlayerView } = require("boardgame.io/core");

const RANKS = 10; // of each of four suits, the strongest last; suits do not count
const CARDS = 3;
const STAKES = [1, 2, 3, 4];
const TARGET = 15;
const PACK = Array.from({ length: 4 * RANKS }, (_, card) => card);

const rankOf = (card) => card % RANKS;
const other = (seat) => 1 - seat;

// Return a hand that begins, of a match with these scores.
function dealt(random, { scores, mano, number, last }) {
  const pack = random.Shuffle(PACK);
  return {
    players: { 0: { cards: pack.slice(0, CARDS) }, 1: { cards: pack.slice(CARDS, 2 * CARDS) } },
    table: [null, null], // the cards of this trick
    winners: [], // of each trick that is over: a seat, or null where it was drawn
    shown: 0, // cards played in this hand
    level: 0, // of STAKES
    asked: null, // the seat that has asked for more and awaits an answer
    raiser: null, // the seat that may raise next; null for either
    next: mano,
    lead: mano,
    mano,
    number,
    last,
    scores,
  };
}

// Return the winner of the hand; null while it is open. A drawn trick goes to who won the first one, three drawn ones to the mano.
function winnerOf({ winners, mano }) {
  const [first, second, third] = winners;
  const decided = winners.filter((seat) => seat !== null);
  if (winners.length < 2) return null;
  if (decided.length >= 2 && (decided[0] === decided[1] || winners.length === 3)) {
    return [0, 1].find((seat) => decided.filter((each) => each === seat).length === 2) ?? decided[0];
  }
  if (first === null && second !== null) return second;
  if (first !== null && second === null) return first;
  if (winners.length < 3) return null;
  return third ?? first ?? mano;
}

// Return everything that a seat may do, as the name of a move and its arguments.
function options(G, seat) {
  if (G.next !== seat) return [];
  const mayRaise = G.level < STAKES.length - 1 && (G.raiser === null || G.raiser === seat);
  const raise = mayRaise ? [["raise"]] : [];
  if (G.asked !== null) {
    return [["accept"], ["fold"], ...(G.level + 1 < STAKES.length - 1 ? [["raise"]] : [])];
  }
  return [...G.players[seat].cards.map((card) => ["play", card]), ...raise, ["fold"]];
}

const allows = (G, seat, wanted) => options(G, seat).some(([name]) => name === wanted);

// Return the state after a hand was won, whose points are counted.
function closed(G, random, winner, points, how) {
  const scores = G.scores.map((score, seat) => score + (seat === winner ? points : 0));
  const last = { winner, points, how, shown: G.shown, number: G.number };
  return dealt(random, { scores, mano: other(G.mano), number: G.number + 1, last });
}

const moves = {
  play({ G, playerID, random }, card) {
    const seat = Number(playerID);
    const { cards } = G.players[seat];
    if (G.asked !== null || !cards.includes(card)) return INVALID_MOVE;
    const table = G.table.map((laid, at) => (at === seat ? card : laid));
    const players = { ...G.players, [seat]: { cards: cards.filter((each) => each !== card) } };
    const played = { ...G, players, table, shown: G.shown + 1, next: other(seat) };
    if (table.includes(null)) return played;
    const [mine, yours] = table.map(rankOf);
    const taker = mine === yours ? null : Number(yours > mine);
    const lead = taker ?? G.lead;
    const taken = { ...played, table: [null, null], winners: [...G.winners, taker], next: lead, lead };
    const winner = winnerOf(taken);
    return winner === null ? taken : closed(taken, random, winner, STAKES[G.level], "tricks");
  },
  raise({ G, playerID }) {
    const seat = Number(playerID);
    if (!allows(G, seat, "raise")) return INVALID_MOVE;
    const level = G.asked === null ? G.level : G.level + 1; // to raise is to accept first
    return { ...G, level, asked: seat, raiser: other(seat), next: other(seat) };
  },
  accept({ G, playerID }) {
    if (G.asked === null) return INVALID_MOVE;
    const laid = G.table.findIndex((card) => card !== null);
    return { ...G, level: G.level + 1, asked: null, raiser: Number(playerID), next: laid < 0 ? G.lead : other(laid) };
  },
  fold({ G, playerID, random }) {
    return closed(G, random, other(Number(playerID)), STAKES[G.level], "fold");
  },
};

const Truc = {
  name: "truc",
  minPlayers: 2,
  maxPlayers: 2,
  disableUndo: true,
  setup: ({ random }) => dealt(random, { scores: [0, 0], mano: 0, number: 0, last: null }),
  playerView: PlayerView.STRIP_SECRETS,
  turn: { minMoves: 1, maxMoves: 1, order: { first: ({ G }) => G.next, next: ({ G }) => G.next } },
  moves: Object.fromEntries(Object.entries(moves).map(([name, move]) => [name, { move, client: false }])),
  endIf: ({ G }) => {
    const winner = G.scores.findIndex((score) => score >= TARGET);
    return winner < 0 ? undefined : { winner };
  },
};

module.exports = { Truc, TARGET, CARDS, STAKES, options };
