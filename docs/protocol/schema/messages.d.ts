// Made by `python -m truc_docs.protocol docs/protocol`. Change the code, not this file.
// What a msgpack decoder gives: bin is Uint8Array. Fields that are not listed are to be ignored.

/** A record: signer (0 the server, i + 1 seat i), body, signature. */
export type SignedRecord = [number, Uint8Array, Uint8Array];

/** Which program is speaking; for logs. */
export interface Software {
  /** The program's name. */
  name: string;
  /** Its version. */
  version?: string;
  /** The language it is written in. */
  lang?: string;
}

/** What a server says about itself. */
export interface Info {
  /** The server's name, given by its host. */
  name: string;
  /** Program and version; for logs. */
  software: string;
  /** Every capability the server has, with its value. */
  caps: { [name: string]: unknown };
  /** What the server takes and gives. */
  limits: Limits;
  /** The games it plays. */
  variants: Array<VariantOffer>;
  /** Whether players without a key may log in. */
  guests: boolean;
  /** The host's message to everybody. */
  motd?: string;
  /** The [origin](transport.md#websocket) at which browsers reach the server. */
  web?: string;
  /** The server's clock, Unix time in milliseconds. */
  now_ms: number;
}

/** What the server takes and gives; a client ignores limits that it does not know. */
export interface Limits {
  /** The longest frame the server takes after login, in bytes. */
  frame_in: number;
  /** The longest frame the server sends, in bytes. */
  frame_out: number;
  /** Silence after which a ping is sent; the connection ends after one and a half times as long. */
  idle_s: number;
  /** How many requests a second are taken in the long run. */
  requests_per_s: number;
  /** How many requests are taken in one burst. */
  burst: number;
  /** How many open tables one player may have. */
  tables?: number;
  /** At how many tables one player may have a seat, their own included. */
  seats?: number;
  /** How many tables one player may open in a minute. */
  tables_per_min?: number;
  /** How many open tables made from one address there may be. */
  tables_per_address?: number;
  /** How many connections one address may have. */
  connections_per_address?: number;
  /** How many connections one address may open in a minute, in the long run. */
  connects_per_min?: number;
  /** How many logins from one address may fail in a minute. */
  failed_logins_per_min?: number;
}

/** A game that this server plays. */
export interface VariantOffer {
  /** The game. */
  name: string;
  /** The numbers of seats it can be played with. */
  seats: Array<number>;
}

/** A seat that belongs to the player who logged in. */
export interface SeatHeld {
  /** The table's code. */
  table: string;
  /** The match to resume; if absent, say `join`. */
  match?: Uint8Array;
  /** The seat. */
  seat: number;
}

/** One seat of a table, as everybody may see it. */
export interface SeatState {
  /** The seat. */
  seat: number;
  /** Who sits there: nobody, a player with a key, a guest. */
  kind: "empty" | "guest" | "key";
  /** The name shown; a label. */
  name?: string;
  /** The player's tag. */
  player?: string;
  /** Agrees to start. */
  ready?: boolean;
  /** Has a connection that follows the table. */
  online?: boolean;
  /** Anybody with a key may `join` to take the seat over. */
  vacant?: boolean;
}

/** A player who is connected, as everybody may see them. */
export interface PlayerState {
  /** The player's tag. */
  player: string;
  /** The name shown; a label. */
  name: string;
  /** A player with a key, or a guest. */
  kind: "guest" | "key";
  /** The public tables where they sit. */
  tables?: Array<string>;
}

/** A record of a match, as the notice `record` brought it. */
export interface PastRecord {
  /** Who signed: 0 the server, i + 1 seat i. */
  signer: number;
  /** The exact bytes signed. */
  body: Uint8Array;
  /** The signature; empty for a guest's act. */
  sig: Uint8Array;
  /** What it means, derived, unsigned. */
  means?: Array<{ [name: string]: unknown }>;
}

/** A match that a player has had a seat in, on the server's word. */
export interface PlayedMatch {
  /** The match id. */
  match: Uint8Array;
  /** The seat that the player had or still has. */
  seat: number;
  /** When they got it, in Unix milliseconds. */
  since_ms: number;
  /** The game, if the server can still read its document. */
  variant?: string;
  /** The names of those who began the match, by seat. */
  names?: Array<string>;
  /** Why it ended; absent if it is not over or was given up. */
  reason?: string;
  /** When it ended, in Unix milliseconds; with `reason`. */
  ended_ms?: number;
}

/** How a player stands in one game with this many seats. */
export interface Standing {
  /** The player's tag. */
  player: string;
  /** The name shown in the newest rated match; a label. */
  name: string;
  /** The game, by its name in the server's info. */
  variant: string;
  /** How many seats. */
  seats: number;
  /** The place among all who are rated there, from 1. */
  rank: number;
  /** What players are ranked by. A newcomer has 0; it can be less. */
  points: number;
  /** How uncertain the skill is: 100 times its deviation. It falls with each match. */
  doubt: number;
  /** How many matches were rated. */
  matches: number;
  /** How many of them were won. */
  won: number;
  /** One of the host's own bots. */
  bot?: boolean;
}

/** One option of a guest without a box. */
export interface Choice {
  /** The move line: what `act` sends back as `choose`. */
  key: string;
  /** The kind of the act. */
  kind: string;
  /** Stakes and costs by name, for display; they decide nothing. */
  hints: { [name: string]: number | string };
}

/** Open the connection: what the client speaks, and a nonce that the server must sign. */
export interface ClientHello {
  t: "hello";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The protocol numbers the client speaks; the server chooses one. */
  proto: Array<number>;
  /** 32 fresh random bytes. */
  cn: Uint8Array;
  /** Capabilities the client would like to use. */
  want?: Array<string>;
  /** Capabilities the client cannot do without; if one is missing, the answer is `unsupported`. */
  require?: Array<string>;
  /** Which program is speaking. */
  client?: Software;
}

/** Prove who the server is, and say what it offers. */
export interface ServerHello {
  t: "hello";
  /** The request answered. */
  re: number;
  /** The `hello` body (security.md). */
  body: Uint8Array;
  /** The signature of `body` by the server's key. */
  sig: Uint8Array;
  /** A separate msgpack map, hashed in `body`: the fields of Info. */
  info: Uint8Array;
  /** Rotations of its key: body, signature by the old key, by the new key. */
  rolls?: Array<[Uint8Array, Uint8Array, Uint8Array]>;
}

/** Log in with a key. */
export interface KeyLogin {
  t: "login";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The `auth` body (security.md). */
  body: Uint8Array;
  /** The signature of `body` by the player's key. */
  sig: Uint8Array;
  /** The name to show, at most 64 bytes of UTF-8; a label, never an identity. */
  name?: string;
  /** An invite, by which a key becomes a member of a closed server. */
  invite?: string;
}

/** Log in again as the guest one was before. */
export interface GuestReturn {
  t: "login";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The token that `welcome` gave. */
  token: string;
}

/** Log in as a guest, without a key. */
export interface GuestLogin {
  t: "login";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The name to show, at most 64 bytes of UTF-8. */
  name: string;
}

/** The client is logged in; from now on everything else may be sent. */
export interface Welcome {
  t: "welcome";
  /** The request answered. */
  re: number;
  /** The name shown for this player. */
  name: string;
  /** This player's tag, which others see beside the name. */
  player?: string;
  /** A guest's token for the next login; whoever has it is this guest. */
  token?: string;
  /** Seats that belong to this player. */
  seats?: Array<SeatHeld>;
}

/** The request is done, and durable where it changed something. */
export interface Ok {
  t: "ok";
  /** The request answered. */
  re: number;
  /** create, seek: the table's code. */
  table?: string;
  /** create, join, seek: the seat taken. */
  seat?: number;
  /** act: the record's position; absent for a `seat` record. resume, watch, history: the next position after everything sent. */
  k?: number;
  /** act: the very same record, or guest's choice, had been taken before. */
  dup?: boolean;
  /** tables: the tables found. */
  tables?: Array<TableState>;
  /** players: the players found. */
  players?: Array<PlayerState>;
  /** There are more, as the request's own entry says. */
  more?: boolean;
  /** rules: the rule document ([parameters.md](../rules/parameters.md)), without any table option. history from -1: that of the match. */
  doc?: Uint8Array;
  /** history from -1: the `table` record, `seat` or `guest` by seat, `match`. */
  setup?: Array<SignedRecord>;
  /** history: the records, in order, from the position asked for. */
  past?: Array<PastRecord>;
  /** matches: the matches found, newest first. */
  matches?: Array<PlayedMatch>;
  /** leaderboard: the places asked for, best first. profile: every game in which the player is rated, by its name. */
  standings?: Array<Standing>;
}

/** The request, or what was received, is refused. */
export interface Refusal {
  t: "error";
  /** The request answered; absent if that could not be told. */
  re?: number;
  /** A code of the registry (errors.md). */
  code: string;
  /** English for people and logs. */
  msg: string;
  /** The same request may succeed later, unchanged. */
  retryable: boolean;
  /** The connection ends with this error; `bye` follows. */
  close: boolean;
  /** How long to wait before trying again. */
  retry_after_ms?: number;
  /** Where in the request the mistake is, such as `seats/0/name`. */
  field?: string;
  /** More for programs; what it holds depends on the code. */
  detail?: { [name: string]: unknown };
  /** The signed refusal of a validly signed body ([play](play.md#decisions)). */
  refuse?: SignedRecord;
}

/** The server closes the connection, and says why. */
export interface Bye {
  t: "bye";
  /** A code of the registry (errors.md). */
  code: string;
  /** English for people and logs. */
  msg: string;
  /** Connecting again may succeed. */
  retryable: boolean;
  /** How long to wait before connecting again. */
  reconnect_after_ms?: number;
  /** Where to connect instead, as `host:port`. */
  to?: string;
}

/** Ask for the public tables, in ascending order of code. */
export interface ListTables {
  t: "tables";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** Only tables of this game. */
  variant?: string;
  /** Only tables with a code after this one: the next page. */
  after?: string;
}

/** Ask for the rule document of a game that the server plays. */
export interface ReadRules {
  t: "rules";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The game, by its name in the server's info. */
  variant: string;
}

/** Open a table and sit down at it. */
export interface Create {
  t: "create";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The game, by its name in the server's info. */
  variant: string;
  /** How many seats; if absent, the fewest that the game allows. */
  seats?: number;
  /** [Table options](options.md) by name. */
  options?: { [name: string]: number | string };
  /** The seat to take; if absent, the first. */
  seat?: number;
  /** Keep the table out of `tables`. */
  private?: boolean;
}

/** Take a seat at a table, return to one's own on this connection, or stand by for a seat that is vacant in a match. */
export interface Join {
  t: "join";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The seat to take; if absent, one's own, or else the first empty one. */
  seat?: number;
}

/** Give up the seat, before a match has started or after it is over. */
export interface Leave {
  t: "leave";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
}

/** Agree to start; the last seat to say so starts the match. */
export interface Ready {
  t: "ready";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** A guest's X25519 key; with it, cards and options come boxed. */
  x?: Uint8Array;
}

/** Take `ready` back, before the match has started. */
export interface Unready {
  t: "unready";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
}

/** The full state of a table before, between and after matches. */
export interface TableState {
  t: "table";
  /** The table's code. */
  table: string;
  /** The game, by its name in the server's info. */
  variant: string;
  /** SHA-256 of its rule document, house rules included. */
  rules: Uint8Array;
  /** Every seat, in order. */
  seats: Array<SeatState>;
  /** How many seats there are. */
  n: number;
  /** Its [state](connection.md#a-table); `over` is repeated. */
  state: "open" | "over" | "playing" | "terms";
  /** The id of the newest match. */
  match?: Uint8Array;
  /** Not listed in `tables`. */
  private: boolean;
  /** The table options chosen ([options.md](options.md)). */
  options: { [name: string]: number | string };
  /** The [terms](options.md#terms) of the match by position. */
  opts: Array<number>;
  /** When the cards are opened. */
  policy: "hand" | "match";
  /** Who deals ([options](options.md#who-deals)); absent at tables of mode `dealt`. */
  mode?: "blind" | "dealt";
  /** How long until the table is dropped if nothing happens. */
  expires_ms?: number;
  /** How long its match has been played; without one, how long the table has waited since it was made or its last match ended. */
  age_ms?: number;
  /** How many are watching, as of this notice. */
  watchers?: number;
  /** Who may read the records afterwards ([options](options.md#who-may-read-the-records-afterwards)). */
  transcript?: "all" | "seats" | "watchers";
  /** Who ends a match when one side is gone. */
  claim?: "opponents" | "server";
}

/** The table is gone. */
export interface TableClosed {
  t: "closed";
  /** The table's code. */
  table: string;
  /** expired: nobody started it. empty: everybody left. server: the host closed it. */
  reason: string;
}

/** The server's signed terms; each seat with a key answers with its `seat` record. */
export interface Terms {
  t: "terms";
  /** The table's code. */
  table: string;
  /** The `table` record: signer, body, sig. */
  record: SignedRecord;
  /** The rule document whose hash stands in the record. */
  doc: Uint8Array;
}

/** The match begins: everything that stands before position 0. */
export interface Setup {
  t: "setup";
  /** The table's code. */
  table: string;
  /** The match id, SHA-256 of the `match` body. */
  match: Uint8Array;
  /** The rule document. */
  doc: Uint8Array;
  /** The `table` record, `seat` or `guest` by seat, and `match`: each signer, body, sig. */
  records: Array<SignedRecord>;
}

/** One record of the transcript, the same bytes for every viewer. */
export interface MatchRecord {
  t: "record";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The record's position: 0 after the setup, then without gaps. */
  k: number;
  /** The role that signed: 0 the server, i + 1 seat i. */
  signer: number;
  /** The record's body. */
  body: Uint8Array;
  /** The signature of `body`, 64 bytes; empty for a guest's act. */
  sig: Uint8Array;
  /** What happened, derived by the rules, in order; unsigned. */
  means: Array<{ [name: string]: unknown }>;
}

/** What this seat may do now, sealed for it. */
export interface BoxedOptions {
  t: "options";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position the act must carry. */
  at: number;
  /** The position of the record that opened the decision. */
  offer: number;
  /** The hand waits for this seat, and everybody can tell. If false, it may act but need not, unless an option has the hint `waits`. */
  must: boolean;
  /** How long the seat that must decide still has, including its bank; absent without a clock. */
  deadline_ms?: number;
  /** The sealed options ([specification, section 7](../fairness/specification.md#7-boxes)). */
  box: Uint8Array;
}

/** What this seat may do now, in clear, for a guest without a box. */
export interface OpenOptions {
  t: "options";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position the act must carry. */
  at: number;
  /** The position of the record that opened the decision. */
  offer: number;
  /** The hand waits for this seat, and everybody can tell. If false, it may act but need not, unless an option has the hint `waits`. */
  must: boolean;
  /** How long the seat that must decide still has, including its bank; absent without a clock. */
  deadline_ms?: number;
  /** The options. */
  list: Array<Choice>;
}

/** The cards dealt to this seat, or to a partner whose cards it is shown; in clear, for a guest without a box. */
export interface OwnCards {
  t: "cards";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position of the deal. */
  k: number;
  /** The deal's index. */
  j: number;
  /** The sub-deal: 0, and one more with every redeal. */
  d: number;
  /** The cards by slot, such as `7e`. */
  cards: Array<string>;
  /** The partner whose cards they are; absent if they are one's own. */
  of?: number;
}

/** Whom the match waits for. */
export interface Waiting {
  t: "waiting";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position that comes next. */
  at: number;
  /** The seats that hold the decision, or whose record is awaited. */
  seats: Array<number>;
  /** What is awaited: a decision if absent; `rekey`, a new chain; `sub`, somebody to take these seats over; in mode blind a step, or `opening`, the links that open a hand. */
  what?: "decision" | "keys" | "lock" | "mask" | "opening" | "rekey" | "sub";
  /** How long the first of them still has, including what is left of its bank; absent without a clock. */
  deadline_ms?: number;
}

/** A seat of a running match has lost its connection, has missed a decision, or is back; the full state each time. */
export interface Away {
  t: "away";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The seat. */
  seat: number;
  /** Has a connection that follows the table. */
  online?: boolean;
  /** How many decisions in a row the server has ruled for it. */
  missed?: number;
  /** How long, at least, until the seat counts as gone ([play](play.md#a-seat-whose-player-is-gone)). */
  claim_in_ms?: number;
}

/** Submit a record that this seat has signed: act, release, ack, rekey, sub, resign, or seat; in mode blind also mask, lock, keys, lend or garbled. */
export interface SignedAct {
  t: "act";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id; absent or nil with a `seat` record. */
  match?: Uint8Array;
  /** The record's body. */
  body: Uint8Array;
  /** The signature of `body` by the seat's key. */
  sig: Uint8Array;
}

/** Choose one of the options as a guest. */
export interface GuestAct {
  t: "act";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The `at` of the options chosen from. */
  at: number;
  /** The key of the option, or `pause`, `resume`, `resign`. */
  choose: string;
  /** Where to cut; only with `cut`. */
  p?: number;
}

/** Make a sign to those who may see it, sealed: for a seat with a key, or a guest who gave `x`. */
export interface BoxedSign {
  t: "sign";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position that comes next. */
  at: number;
  /** A seat that sees this one's signs; any others that do see the sign too. */
  to: number;
  /** The sealed word ([specification, section 7](../fairness/specification.md#7-boxes)). */
  box: Uint8Array;
}

/** Make a sign to those who may see it, in clear, as a guest without a box. */
export interface OpenSign {
  t: "sign";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position that comes next. */
  at: number;
  /** The word, one of `signals.vocabulary` of the game's rules. */
  word: string;
}

/** A partner makes a sign, sealed for this seat. */
export interface BoxedSignSeen {
  t: "sign";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position that comes next. */
  at: number;
  /** The seat that makes the sign. */
  from: number;
  /** The sealed word ([specification, section 7](../fairness/specification.md#7-boxes)). */
  box: Uint8Array;
}

/** A seat makes a sign, in clear: to a guest without a box, or where the whole table sees signs. */
export interface OpenSignSeen {
  t: "sign";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position that comes next. */
  at: number;
  /** The seat that makes the sign. */
  from: number;
  /** The word. */
  word: string;
}

/** Say one of the game's phrases to everybody at the table. */
export interface Say {
  t: "say";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The phrase, one of `phrases` of the game's rules. */
  phrase: string;
}

/** Ask for the end of a match whose other side is away; the notice `away` says from when this is granted. */
export interface ClaimMatch {
  t: "claim_match";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
}

/** Ask for time to start a new chain before the next call: for a seat that has lost its secrets of the match. */
export interface WantRekey {
  t: "rekey";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
}

/** A seat says a phrase; everybody at the table is told, the speaker included. */
export interface Said {
  t: "said";
  /** The table's code. */
  table: string;
  /** The seat that speaks. */
  seat: number;
  /** The phrase. */
  phrase: string;
}

/** Take one's seat on this connection, and be sent every record that one has missed. */
export interface Resume {
  t: "resume";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The first position wanted; -1 asks for the setup too. */
  next: number;
}

/** Follow a table without a seat, from the beginning of its match or from where one left off. */
export interface Watch {
  t: "watch";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
  /** The match that `next` belongs to; another one is sent from its beginning. */
  match?: Uint8Array;
  /** The first position wanted, without the setup; only with `match`. */
  next?: number;
}

/** Stop following a table. */
export interface Unwatch {
  t: "unwatch";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code. */
  table: string;
}

/** A newer connection of the same player, or a substitute, has the seat now; this connection stays open and may watch. */
export interface SeatTakenOver {
  t: "seat_taken_over";
  /** The table's code. */
  table: string;
  /** The seat. */
  seat: number;
}

/** Where a watcher begins: the match up to position `k`, in brief. The records from `k` on follow. */
export interface Snapshot {
  t: "snapshot";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The position of the next record; those before it come by `history`. */
  k: number;
  /** The head at `k` ([specification, section 5](../fairness/specification.md#5-records)), from which the records that follow continue. */
  head: Uint8Array;
  /** The rule document. */
  doc: Uint8Array;
  /** The setup: the `table` record, `seat` or `guest` by seat, `match`. */
  records: Array<SignedRecord>;
  /** The fact `state` ([facts.md](facts.md)) as of the record before `k`; empty at position 0. */
  view: { [name: string]: unknown };
  /** What waited for this connection was dropped. */
  skipped?: boolean;
}

/** Ask for a page of a match's records: of one being played, as far as this player may see it, or of one that is over. */
export interface History {
  t: "history";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The match id. */
  match: Uint8Array;
  /** The first position wanted; -1 asks for the setup too. */
  from: number;
  /** How many records at most. 0 only with -1: the setup alone. */
  limit?: number;
}

/** Ask which matches one has had a seat in, newest first: those that the server still has. */
export interface ListMatches {
  t: "matches";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The last match already known: the next page. */
  after?: Uint8Array;
}

/** Follow the lobby: its state, its chat, and every public table as it changes. */
export interface FollowLobby {
  t: "lobby";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** Stop following it. */
  off?: boolean;
}

/** How full the house is; sent to those who follow the lobby, at most once a second. */
export interface LobbyState {
  t: "lobby";
  /** How many players are connected. */
  online: number;
  /** How many tables there are, private ones included. */
  tables: number;
  /** At how many of them a match is being played. */
  playing: number;
}

/** Ask who is connected, in ascending order of tag. */
export interface ListPlayers {
  t: "players";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** Only players with a tag after this one: the next page. */
  after?: string;
}

/** Take a seat at any open public table of this game, with this number of seats and these options; if there is none, open one. */
export interface Seek {
  t: "seek";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The game, by its name in the server's info. */
  variant: string;
  /** How many seats; if absent, any number will do, and a new table has the fewest. */
  seats?: number;
  /** The [options](options.md) that the table must have been made with, and no others. */
  options?: { [name: string]: number | string };
}

/** A seat of a running match is vacant, and the host's bots are called; sent only to the keys that the host names. */
export interface BotWanted {
  t: "bot_wanted";
  /** The table's code. */
  table: string;
  /** The match id. */
  match: Uint8Array;
  /** The vacant seat: `join` it to stand by. */
  seat: number;
  /** The game, by its name in the server's info. */
  variant: string;
  /** How much longer the seat is offered. */
  left_ms?: number;
}

/** Somebody waits at an open table, and the host's bots are called to its free seats; sent only to the keys that the host names. */
export interface PlayersWanted {
  t: "players_wanted";
  /** The table's code. */
  table: string;
  /** A free seat: `join` it, and say `ready`. */
  seat: number;
  /** The game, by its name in the server's info. */
  variant: string;
}

/** Say something to everybody at a table one follows, or in the lobby if one follows it. */
export interface Chat {
  t: "chat";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The table's code; absent for the lobby. */
  table?: string;
  /** The text: one line of printable characters. */
  text: string;
}

/** Somebody says something; everybody who follows the table or the lobby is told, the speaker included. */
export interface ChatLine {
  t: "chat";
  /** The table's code; absent for the lobby. */
  table?: string;
  /** The line's number at its table; absent in the lobby. */
  n?: number;
  /** The speaker's tag. */
  player: string;
  /** The name shown; a label. */
  name: string;
  /** The speaker's seat; absent for a watcher, and in the lobby. */
  seat?: number;
  /** The text. */
  text: string;
  /** How long ago it was said; only with older lines. */
  ago_ms?: number;
}

/** Stop being sent the chat, phrases and signs of one player; for players with a key the server remembers it. */
export interface Ignore {
  t: "ignore";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The player's tag. */
  player: string;
  /** Hear the player again. */
  off?: boolean;
}

/** Be forgotten: token, name, chat and what was ignored; only for a player without a seat in a match that is being played. */
export interface Forget {
  t: "forget";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
}

/** Keep order as the host would; only for players with a key whom the host has named moderators. */
export interface Moderate {
  t: "moderate";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** kick: end somebody's connections. say: to everybody. */
  do: "ban" | "kick" | "mute" | "say" | "unban" | "unmute";
  /** The player's tag, or the name of one who is connected; absent for `say`. */
  player?: string;
  /** For how many hours a ban or mute holds; absent: until it is undone. */
  hours?: number;
  /** What is said; only for `say`. */
  text?: string;
}

/** Ask for the best-rated players of a game with this many seats, best first. */
export interface Leaderboard {
  t: "leaderboard";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The game, by its name in the server's info. */
  variant: string;
  /** How many seats. */
  seats: number;
  /** How many places to skip: the next page. */
  from?: number;
}

/** Ask for the standings of one player, in every game in which they are rated. */
export interface Profile {
  t: "profile";
  /** The client's number for this request; no other request that still waits for its reply may have it. */
  id: number;
  /** The player's tag; oneself if absent. */
  player?: string;
}

/** The server's capabilities have changed. */
export interface Capabilities {
  t: "caps";
  /** Those that are new or have a new value, with their values. */
  add?: { [name: string]: unknown };
  /** Those that are gone. */
  del?: Array<string>;
}

/** The server is about to be stopped: hands under way are played to their end, and nothing new begins. */
export interface Draining {
  t: "draining";
  /** How long, at most, until it says `bye`. */
  left_ms: number;
}

/** The host says something to everybody who is logged in. */
export interface HostSays {
  t: "host_says";
  /** The text. */
  text: string;
}

/** Ask for a sign of life. */
export interface Ping {
  t: "ping";
  /** Any number. */
  n: number;
}

/** Give the sign of life, at once. */
export interface Pong {
  t: "pong";
  /** The number of the ping. */
  n: number;
  /** The sender's clock, Unix time in milliseconds. */
  now_ms?: number;
}

/** client to server */
export type ClientMessage =
  | ClientHello
  | KeyLogin
  | GuestReturn
  | GuestLogin
  | ListTables
  | ReadRules
  | Create
  | Join
  | Leave
  | Ready
  | Unready
  | SignedAct
  | GuestAct
  | BoxedSign
  | OpenSign
  | Say
  | ClaimMatch
  | WantRekey
  | Resume
  | Watch
  | Unwatch
  | History
  | ListMatches
  | FollowLobby
  | ListPlayers
  | Seek
  | Chat
  | Ignore
  | Forget
  | Moderate
  | Leaderboard
  | Profile
  | Ping
  | Pong;

/** server to client */
export type ServerMessage =
  | ServerHello
  | Welcome
  | Ok
  | Refusal
  | Bye
  | TableState
  | TableClosed
  | Terms
  | Setup
  | MatchRecord
  | BoxedOptions
  | OpenOptions
  | OwnCards
  | Waiting
  | Away
  | BoxedSignSeen
  | OpenSignSeen
  | Said
  | SeatTakenOver
  | Snapshot
  | LobbyState
  | BotWanted
  | PlayersWanted
  | ChatLine
  | Capabilities
  | Draining
  | HostSays
  | Ping
  | Pong;
