// What the tests ask of the rules in JavaScript: a line of JSON in, a line of JSON out.
//
// A match that was played elsewhere, once more; the lines of a scenario; counts of what can follow a match.

import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import {
  BadDocument, Reading, begin, deal, deciders, described, isAwaitedUnseen, legal, moveLine, nextHand, openSlots, owedShares,
  owedShows, play, readMove, readRules, refusal, ruled, signs, surelyLegal
} from '../../client/truc_web/lib/rules/index.mjs'
import { take } from '../../client/truc_web/lib/rules/match.mjs'

const seatsOf = (state) => Array.from({ length: state.seats }, (_, seat) => seat)
const dotted = (numbers) => numbers.map((number) => number ?? '').join('.')
const written = ({ seat, kind, cards, value }) =>
  `${seat},${kind},${cards.length > 1 ? [...cards].sort((a, b) => a - b).join('.') : cards[0] ?? ''},${value ?? ''}`

// All that both programs must agree on; told.py writes the same.
function standing(state) {
  const { dealer, seats, hand, score: [ours, theirs], games } = state
  const { leader, table, tricks } = hand.row
  const move = ruled(state)
  const shows = owedShows(state).map(([seat, slots]) => `${seat}:${dotted(slots)}`).join(' ')
  const shares = owedShares(state).map(dotted).join(' ')
  let said = ''
  const options = []
  for (let seat = 0; seat < seats; seat++) {
    said += (seat > 0 ? ' ' : '') + signs(state, seat).join('.')
    for (const action of legal(state, seat)) options.push(written(action))
  }
  return `${hand.phase}|${dealer}|${ours.upper}.${ours.points}|${theirs.upper}.${theirs.points}|${dotted(games)}` +
    `|${hand.bets.locked ?? hand.bets.stake}|${dotted([state.gameWinner, state.winner])}|${dotted(deciders(state))}` +
    `|${leader}|${dotted(table)}|${dotted(tricks.map(({ side }) => side))}` +
    `|${shows}|${shares}|${move === null ? '' : written(move)}` +
    `|${said}|${options.sort().join(' ')}`
}

const dealt = (state, hands, up) => deal(state, hands, up.length > 0 ? up : undefined)

// What is played stands among the options that were compared before: it is not looked for there again.
function stepOf(state, [what, ...args]) {
  switch (what) {
    case 'deal': return dealt(state, ...args)
    case 'next': return nextHand(state)
    default: return take(state, args[0])
  }
}

// How the match stands at first and after each step; null if it is as the digest says. Where a step throws, that is last.
function parting(rules, { table, steps, digest }) {
  let state = begin(rules, table)
  const standings = [standing(state)]
  try {
    for (const step of steps) {
      state = stepOf(state, step)
      standings.push(standing(state))
    }
  } catch (error) {
    return [...standings, error.stack]
  }
  return createHash('sha256').update(standings.join('\n')).digest('hex') === digest ? null : standings
}

// The lines of a scenario (docs/rules/scenarios.md), its set-up done: the first that does not hold, and why; else null.
class Scenario {
  constructor({ rules, table, lines }) {
    this.rules = rules
    this.lines = lines
    this.state = begin(rules, table)
    this.given = new Map()
    this.turn = []
  }

  failure() {
    for (const [number, words] of this.lines) {
      try {
        const said = this.line(words)
        if (said !== undefined) return { line: number, said: `${words.join(' ')}: got ${said}` }
      } catch (error) {
        return { line: number, said: `${words.join(' ')}: ${error.stack}` }
      }
    }
    return null
  }

  line([first, ...rest]) {
    if (first === 'deal' || first === 'turn') return this.give(first, rest)
    this.deal()
    if (/^\d+$/.test(first)) return this.move(Number(first), rest)
    return CHECKS[first](this, rest)
  }

  cards(names) {
    return names.map((name) => this.rules.pack.indexOf(name))
  }

  give(what, words) {
    if (this.state.hand.phase === 'over') this.state = nextHand(this.state)
    if (what === 'turn') this.turn = this.cards(words)
    else this.given.set(Number(words[0]), this.cards(words.slice(1)))
  }

  deal() {
    const { state, given, turn } = this
    if (state.hand.phase !== 'deal') return
    const nothing = [null, null, null]
    this.state = dealt(state, seatsOf(state).map((seat) => (given.get(seat) ?? nothing).slice(0, state.hand.each)), turn)
    this.given = new Map()
    this.turn = []
  }

  move(seat, words) {
    const reason = this.refused(seat, words)
    if (reason !== null) return reason
    if (words[0] !== 'sign') this.state = play(this.state, readMove(this.rules, seat, words.join(' ')))
    return undefined
  }

  // The code with which a move is refused.
  refused(seat, words) {
    if (words[0] === 'sign') return signs(this.state, seat).includes(words[1]) ? null : 'illegal_action'
    const move = readMove(this.rules, seat, words.join(' '))
    return move === null ? 'illegal_action' : refusal(this.state, move)
  }
}

const sorted = (moves) => [...moves].sort().join('; ')
const unless = (expected, got) => String(expected) === String(got) ? undefined : String(got)
const CODES = ['not_your_turn', 'illegal_action', 'void_bet']
const CHECKS = {
  '!': (scenario, [seat, ...words]) => {
    const code = CODES.includes(words.at(-1)) ? words.at(-1) : null
    const got = scenario.refused(Number(seat), code === null ? words : words.slice(0, -1))
    return got === null ? 'taken' : unless(code ?? got, got)
  },
  '?': ({ rules, state }, [seat, ...words]) => {
    const wanted = words.join(' ') === '-' ? [] : words.join(' ').split(';').map((move) => move.trim())
    const found = legal(state, Number(seat)).filter(({ kind }) => kind !== 'order' && kind !== 'show')
    return unless(sorted(wanted), sorted(found.map((action) => moveLine(rules, action))))
  },
  next: ({ state }, words) => unless(words.sort().join(' '), deciders(state).join(' ') || '-'),
  trick: ({ state: { hand } }, [word]) => unless(word, hand.trick),
  stake: ({ state: { hand: { bets } } }, [word]) => unless(word, bets.locked === 'rest' ? 'game' : bets.locked ?? bets.stake),
  hand: ({ state: { hand } }, [word]) => unless(word, hand.result ?? 'open'),
  points: ({ state: { hand } }, words) => unless(words.join(' '), hand.given.join(' ')),
  score: ({ rules, state: { score } }, words) => {
    const wanted = words.map((word) => rules.pointsPerUnit > 0 && !word.includes('+') ? `0+${word}` : word)
    return unless(wanted.join(' '), score.map(({ upper, points }) => rules.pointsPerUnit > 0 ? `${upper}+${points}` : points).join(' '))
  },
  game: ({ state }, [word]) => unless(word, state.gameWinner ?? 'open'),
  match: ({ state }, [word]) => unless(word, state.winner ?? 'open'),
  shown: (scenario, [seat, ...names]) => {
    const { state, rules: { pack } } = scenario
    const owed = owedShows(state).flatMap(([owner, slots]) => owner === Number(seat) ? slots : [])
    const slots = new Set([...openSlots(state, Number(seat)), ...owed])
    const got = [...slots].map((slot) => pack[state.hand.cards[seat][slot]])
    return unless(sorted(names[0] === '-' ? [] : names), sorted(got))
  }
}

// The counts of tests/perft: different positions, rows of cards played without a word.
function positionsOf(state, depth) {
  const counts = [1]
  let layer = [state]
  for (let i = 0; i < depth; i++) {
    const next = new Map()
    for (const each of layer) {
      for (const seat of seatsOf(each)) {
        for (const action of legal(each, seat)) {
          const after = play(each, action)
          next.set(JSON.stringify({ ...after, rules: null }), after)
        }
      }
    }
    layer = [...next.values()]
    counts.push(layer.length)
  }
  return counts
}

function cardRowsOf(state, depth) {
  const counts = []
  let layer = [state]
  for (let i = 0; i < depth; i++) {
    layer = layer.flatMap((each) => seatsOf(each).flatMap((seat) => legal(each, seat))
      .filter(({ kind, value }) => kind === 'play' && value === null).map((action) => play(each, action)))
    counts.push(layer.length)
  }
  return counts
}

function counts({ rules, table, steps, positions, cards }) {
  const state = steps.reduce(stepOf, begin(rules, table))
  const stood = state.hand.phase === 'redeal' ? play(state, { seat: state.hand.row.eldest, kind: 'stand', cards: [], value: null }) : state
  return { positions: positionsOf(state, positions), cards: cardRowsOf(stood, cards) }
}

// What a seat finds out by itself in a hand that it sees as its records tell it: a line for each time that it is asked, of
// whom the hand waits for.
function sure({ rules, table, isSecond, seat, steps }) {
  const first = begin(rules, table)
  const reading = new Reading(isSecond ? nextHand({ ...first, hand: { ...first.hand, phase: 'over' } }) : first)
  const found = []
  for (const [what, ...args] of steps) {
    if (what === 'deal') reading.deal(...args)
    else if (what === 'know') reading.know(...args)
    else if (what === 'see') reading.see(...args)
    else if (what === 'act' && !reading.act(...args)) found.push('refused')
    else if (what === 'ask') found.push(surely(reading.state, seat, ...args))
  }
  return found
}

function surely(state, seat, awaited) {
  const { here, actions } = surelyLegal(state, seat, awaited)
  const lines = actions.map((action) => {
    const { line, hints } = described(here, action)
    return [line, ...hints.map((hint) => hint.join('='))].join(' ')
  })
  return `${lines.length > 0 && isAwaitedUnseen(here, seat, awaited) ? 'waits' : ''}|${lines.sort().join('|')}`
}

const ANSWERS = {
  sure,
  matches: ({ rules, matches }) => matches.map((match) => parting(rules, match)),
  scenario: (task) => new Scenario(task).failure(),
  counts
}

// Whether a document says rules that can be played.
function reads(document) {
  try {
    return readRules(document) !== null
  } catch (error) {
    if (error instanceof BadDocument) return false
    throw error
  }
}

const rulesOf = new Map()

function answer({ ask, document, ...task }) {
  if (ask === 'reads') return reads(document)
  const name = JSON.stringify(document)
  if (!rulesOf.has(name)) rulesOf.set(name, readRules(document))
  return ANSWERS[ask]({ ...task, rules: rulesOf.get(name) })
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + '\n')
}
