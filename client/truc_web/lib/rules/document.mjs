// The rule document (docs/rules/parameters.md): what it may say (C5), and the rules that follow from it.
//
// Data decides: nothing here or in the other modules of this folder asks for the name of a game. A param that is not
// known, or that contradicts another, is refused.

/** The rules that a document holds, read once; every other module reads them here. @typedef {ReturnType<typeof readRules>} Rules */

/** A stake: points, or what is played for instead of them. @typedef {number | 'rest' | 'trut'} Stake */

/** What a group of params holds, by name, or null where the game has no such rule. @typedef {Record<string, any> | null} Group */

export class BadDocument extends Error {}

const CARDS_EACH = 3
const MOST = 1000
const MOST_CALLS = 16
const MOST_OF_ANY = 120
const MOST_NUMBER = 20

/** Signs that name cards, with the entries of a pack that make them true: cards, or ranks. */
export const CARD_SIGNS = /** @type {Record<string, string[]>} */ ({
  three: ['3'],
  two: ['2'],
  ace: ['1', 'A'],
  seven: ['7'],
  eight: ['8'],
  'ace-swords': ['1e'],
  'ace-clubs': ['1b'],
  'seven-swords': ['7e'],
  'seven-gold': ['7o'],
  'false-ace': ['1c', '1o'],
  zap: ['4c'],
  'seven-hearts': ['7h'],
  'ace-spades': ['As'],
  'seven-diamonds': ['7d']
})
const OTHER_SIGNS = [
  'high-envido', 'low-envido', 'manilha-clubs', 'manilha-hearts', 'manilha-spades', 'manilha-diamonds', 'piece-two',
  'piece-four', 'piece-five', 'piece-eleven', 'piece-ten', 'nothing',
  'thirty-three'
]

/** @typedef {(value: any) => boolean} Is */

/** @type {Is} */
const isNumber = (value) => Number.isSafeInteger(value) && value >= 0
/** @type {Is} */
const isFlag = (value) => typeof value === 'boolean'
/** @type {Is} */
const isText = (value) => typeof value === 'string'
/** @type {Is} */
const isTexts = (value) => Array.isArray(value) && value.every(isText)
/** @type {(...words: string[]) => Is} */
const oneOf = (...words) => (value) => words.includes(value)
/** @type {(...types: Is[]) => Is} */
const either = (...types) => (value) => types.some((is) => is(value))
/** @type {Is} */
const isNumbers = (value) => Array.isArray(value) && value.every(isNumber)

/** The params and those of their groups, with what each takes: the first table of parameters.md. */
const PARAMS = /** @type {Record<string, Is | Record<string, Is>>} */ ({
  absent: oneOf('play', 'concede'),
  accept: oneOf('explicit', 'implicit'),
  all_tied: oneOf('eldest', 'draw'),
  alternate: oneOf('yes', 'no', 'once'),
  answerer: oneOf('any', 'governor'),
  ask_window: oneOf('b', 'ba'),
  blind: isFlag,
  cap: oneOf('target', 'strict', 'no_overkill'),
  concede: oneOf('vs_ask', 'any', 'on_turn', 'governor'),
  cover_from_trick: isNumber,
  envido: {
    falta: oneOf('leader', 'malas-game', 'malas-15'), fold_bonus: isNumber, max_envido: isNumber, max_real: isNumber,
    settle: oneOf('said', 'hand_end')
  },
  flor: { challenge: isFlag, claims: isFlag, kind: oneOf('suit', 'run'), pays: oneOf('all', 'own'), reserved: isFlag },
  hand_rule: oneOf('standard', 'put'),
  ladder: either(isNumbers, oneOf('x2', '+2', 'any', 'game', 'trut')),
  last_point: { at: isNumber, decline: isNumber, share: isFlag, stake: isNumber },
  match: isNumber,
  order: isTexts,
  partner_tie: oneOf('earlier', 'leader_only'),
  phrases: isTexts,
  pica: { max: isNumber, min: isNumber },
  players: isNumbers,
  raise_in_answer: isFlag,
  redeal: { consent: oneOf('dealer', 'all'), max: either(isNumber, oneOf('pack')) },
  remainder: oneOf('none', 'accept', 'counter', 'last'),
  reveal: oneOf('hand', 'match'),
  scoring: { end_check: oneOf('immediate', 'hand_end'), points_per_unit: isNumber, target: isNumber },
  short_deal: isFlag,
  show: oneOf('none', 'owner'),
  signals: {
    orders: oneOf('none', 'binding'), truth: oneOf('free', 'enforced'),
    visible_to: oneOf('partner', 'governor', 'table'), vocabulary: isTexts
  },
  tie_leader: oneOf('same', 'spoiler'),
  turnup: { cycle: isTexts, numbers: isNumbers, pieces: isTexts, stand_in: isText, suits: isTexts },
  words: isText
})
const NEVER_NIL = ['scoring']

/** What stands in a document only with another value. */
const DEFAULTS = /** @type {Record<string, any>} */ ({
  'envido.settle': 'said', 'flor.challenge': true, 'flor.pays': 'all', 'flor.reserved': false,
  'turnup.cycle': [], 'turnup.numbers': [], 'turnup.pieces': [], 'turnup.stand_in': '', 'turnup.suits': []
})

/** @param {boolean} condition @param {string} what @returns {asserts condition} */
function must(condition, what) {
  if (!condition) throw new BadDocument(what)
}

/**
 * An array of [name, value], each name once and ascending, as an object; what has a default may be left out, and must
 * where it has that value.
 *
 * @param {any} pairs
 * @param {Record<string, any>} known
 * @param {string} [group]
 */
function named(pairs, known, group = '') {
  must(Array.isArray(pairs) && pairs.every((pair) => Array.isArray(pair) && pair.length === 2), 'pairs')
  const told = /** @type {Map<string, any>} */ (new Map(pairs))
  const names = Object.keys(known).filter((name) => told.has(name) || !(group + name in DEFAULTS))
  must(pairs.length === names.length && names.every((name, i) => pairs[i][0] === name), 'the names of the params')
  const isDefault = (/** @type {string} */ name) => JSON.stringify(told.get(name)) === JSON.stringify(DEFAULTS[group + name])
  // left out while it is as before, so that documents older than the field keep their hash
  must(!names.some((name) => group + name in DEFAULTS && isDefault(name)), 'a value that is the default')
  return Object.fromEntries(Object.keys(known).map((name) => [name, told.has(name) ? told.get(name) : DEFAULTS[group + name]]))
}

/** @param {any} pairs */
function readParams(pairs) {
  const params = named(pairs, PARAMS)
  for (const [name, is] of Object.entries(PARAMS)) {
    if (typeof is === 'function') {
      must(is(params[name]), name)
    } else if (params[name] === null) {
      must(!NEVER_NIL.includes(name), name)
    } else {
      const group = params[name] = named(params[name], is, `${name}.`)
      for (const [inner, isInner] of Object.entries(is)) must(isInner(group[inner]), `${name}.${inner}`)
    }
  }
  return params
}

/** The rank and the suit of a card by its name. @param {string} name */
export const rankOf = (name) => name.slice(0, -1)
/** @param {string} name */
export const suitOf = (name) => name.slice(-1)

/** @param {any[]} list */
const isEachOnce = (list) => new Set(list).size === list.length

/** What a card counts in envido and flor: an ace 1, 2 to 7 as they are, the others nothing. @param {string} name */
function numberOf(name) {
  const number = rankOf(name) === 'A' ? 1 : Number(rankOf(name))
  return number >= 1 && number <= 7 ? number : 0
}

/**
 * The strengths of the cards by their index, more is stronger; a card covered has 0.
 *
 * @param {string[]} pack
 * @param {string[]} order
 */
function strengthsOf(pack, order) {
  const ranks = new Set(pack.map(rankOf))
  const cards = new Set(pack)
  /** @type {Map<string, number>} */
  const strengths = new Map()
  order.forEach((entry, at) => entry.split(' ').forEach((word) => {
    must(ranks.has(word) || cards.has(word), `order: ${word} is not in the pack`)
    must(!strengths.has(word), `order: ${word} twice`)
    // words of one entry tie
    strengths.set(word, order.length - at)
  }))
  return pack.map((name) => {
    const strength = strengths.get(name) ?? strengths.get(rankOf(name))
    must(strength !== undefined, `order: no place for ${name}`)
    return strength
  })
}

/**
 * The place of each card among those that a run follows: numbers by what they are, others as they first stand.
 *
 * @param {string[]} pack
 */
function runsOf(pack) {
  const ranks = [...new Set(pack.map(rankOf))]
  const sorted = ranks.every((rank) => /^\d+$/.test(rank)) ? ranks.sort((a, b) => Number(a) - Number(b)) : ranks
  return pack.map((name) => sorted.indexOf(rankOf(name)))
}

/** Either a rank is raised, or some are pieces in one suit. @param {string[]} pack @param {Record<string, any>} turnup */
function checkTurnup(pack, { cycle, suits, pieces, numbers, stand_in: standIn }) {
  const ranks = new Set(pack.map(rankOf))
  const all = new Set(pack.map(suitOf))
  const isOf = (/** @type {any[]} */ list, /** @type {Set<string>} */ set) => isEachOnce(list) && list.every((one) => set.has(one))
  if (pieces.length === 0) {
    must(numbers.length === 0 && standIn === '', 'turnup.pieces')
    must(isOf(cycle, ranks) && cycle.length === ranks.size, 'turnup.cycle')
    must(isOf(suits, all) && suits.length === all.size, 'turnup.suits')
    return
  }
  must(cycle.length === 0 && suits.length === 0, 'turnup.cycle')
  must(isOf(pieces, ranks), 'turnup.pieces')
  must(numbers.length === pieces.length && numbers.every((/** @type {number} */ one) => one >= 1 && one <= MOST_NUMBER), 'turnup.numbers')
  must(standIn === '' || (ranks.has(standIn) && !pieces.includes(standIn)), 'turnup.stand_in')
}

/** What must fit together: the list of parameters.md. @param {string[]} pack @param {Record<string, any>} p @param {number} version */
function checkFit(pack, p, version) {
  const { players, ladder, scoring, last_point: last, turnup, redeal, envido, flor, pica, signals } = p
  const { points_per_unit: unit, target } = scoring
  const first = Array.isArray(ladder) ? ladder[0] : 1
  must(isEachOnce(pack) && pack.every((name) => /^([1-9]\d*|[A-Z])[a-z]$/.test(name)), 'pack')
  must(players.length > 0 && players.every((/** @type {number} */ n, /** @type {number} */ i) =>
    [2, 4, 6].includes(n) && (i === 0 || players[i - 1] < n)), 'players')
  must(pack.length >= CARDS_EACH * players.at(-1) + (turnup === null ? 0 : 1), 'too few cards')
  must(version >= 1 && p.match % 2 === 1 && p.match <= MOST, 'match')
  must(redeal === null || redeal.max === 'pack' || redeal.max >= 1, 'redeal.max')
  if (Array.isArray(ladder)) {
    must(ladder.length >= 2 && ladder.every((stake, i) => stake >= 1 && stake <= MOST && (i === 0 || ladder[i - 1] < stake)), 'ladder')
  }
  must(ladder !== 'game' || p.remainder !== 'none', 'remainder')
  must(!['game', 'trut'].includes(ladder) || !p.raise_in_answer, 'raise_in_answer')
  must(p.accept !== 'implicit' || p.remainder === 'none', 'accept')
  must((unit > 0) === (ladder === 'trut'), 'points_per_unit')
  if (unit > 0) must(unit > first && unit <= MOST && p.remainder === 'none' && !p.short_deal && last === null, 'units')
  must(unit > 0 ? target >= 1 : target > first, 'target')
  must(target <= (ladder === 'any' ? MOST_OF_ANY : MOST), 'target')
  if (last !== null) {
    must(last.at >= 1 && last.at < target && last.stake >= first && last.stake <= MOST, 'last_point')
    must(last.decline >= 1 && last.decline <= MOST, 'last_point')
  }
  must(!p.blind || last !== null, 'blind')
  if (turnup !== null) checkTurnup(pack, turnup)
  must(turnup === null || redeal === null, 'redeal')
  must(flor?.kind !== 'run' || !turnup || turnup.pieces.length === 0, 'flor.kind')
  must([0, 2, 3].includes(p.cover_from_trick), 'cover_from_trick')
  must((flor === null && !p.blind) || p.show === 'none', 'show')
  if (envido !== null || flor !== null) {
    must(unit === 0 && !p.short_deal && !p.blind && p.accept === 'explicit', 'side bets')
  }
  must(flor === null || p.cover_from_trick === 0, 'cover_from_trick')
  if (envido !== null) {
    must(envido.max_envido >= 1 && envido.max_envido <= MOST_CALLS && envido.max_real <= MOST_CALLS, 'envido')
    must(envido.fold_bonus <= MOST, 'envido.fold_bonus')
  }
  if (pica !== null) must(players.includes(6) && last === null && pica.max >= pica.min, 'pica')
  must(pica === null || envido?.settle !== 'hand_end', 'envido.settle')
  if (signals !== null) {
    const { vocabulary, truth, orders } = signals
    must(isEachOnce(vocabulary), 'signals.vocabulary')
    // `in` would find what every object has besides: `toString`
    const isCardSign = (/** @type {string} */ word) => Object.hasOwn(CARD_SIGNS, word)
    must(vocabulary.every((/** @type {string} */ word) => isCardSign(word) || OTHER_SIGNS.includes(word)), 'signals.vocabulary')
    must(truth === 'free' || vocabulary.every(isCardSign), 'signals.truth')
    must(orders === 'none' || !p.blind, 'signals.orders')
  }
  const governed = [p.answerer, p.concede, signals?.visible_to].includes('governor') || signals?.orders === 'binding'
  must(!governed || (players.length === 1 && players[0] === 4), 'governor')
}

/**
 * The rules of a document, as the encoding decodes it or as presets.json has it; throws BadDocument (C5).
 *
 * @param {any} document
 */
export function readRules(document) {
  must(Array.isArray(document) && document.length === 6, 'a document')
  const [tag, engine, name, version, pack, pairs] = document
  must(tag === 'truc/1/rules' && engine === 1 && isText(name) && isNumber(version) && isTexts(pack), 'engine 1')
  const p = readParams(pairs)
  checkFit(pack, p, version)
  return {
    /** @type {string} */
    name,
    /** @type {string[]} */
    pack,
    deck: pack.length,
    ranks: [...new Set(/** @type {string[]} */ (pack).map(rankOf))],
    strengths: strengthsOf(pack, p.order),
    numbers: /** @type {string[]} */ (pack).map(numberOf),
    runs: runsOf(pack),
    /** @type {'play' | 'concede'} */
    absent: p.absent,
    isImplicit: p.accept === 'implicit',
    eldestWinsTies: p.all_tied === 'eldest',
    /** @type {'yes' | 'no' | 'once'} */
    alternate: p.alternate,
    governorAnswers: p.answerer === 'governor',
    asksAfter: p.ask_window === 'ba',
    /** @type {boolean} */
    blind: p.blind,
    /** @type {'target' | 'strict' | 'no_overkill'} */
    cap: p.cap,
    /** @type {'vs_ask' | 'any' | 'on_turn' | 'governor'} */
    concede: p.concede,
    /** @type {number} */
    coverFromTrick: p.cover_from_trick,
    /** @type {Group} */
    envido: p.envido,
    /** @type {Group} */
    flor: p.flor,
    isPut: p.hand_rule === 'put',
    /** @type {number[] | 'x2' | '+2' | 'any' | 'game' | 'trut'} */
    ladder: p.ladder,
    /** @type {number} */
    firstStake: Array.isArray(p.ladder) ? p.ladder[0] : 1,
    /** @type {Group} */
    lastPoint: p.last_point,
    gamesToWin: (p.match + 1) / 2,
    leaderOnly: p.partner_tie === 'leader_only',
    /** @type {Group} */
    pica: p.pica,
    /** @type {number[]} */
    players: p.players,
    /** @type {boolean} */
    raisesInAnswer: p.raise_in_answer,
    /** @type {Group} */
    redeal: p.redeal,
    /** @type {'none' | 'accept' | 'counter' | 'last'} */
    remainder: p.remainder,
    /** @type {'hand' | 'match'} */
    reveal: p.reveal,
    isImmediate: p.scoring.end_check === 'immediate',
    /** @type {number} */
    pointsPerUnit: p.scoring.points_per_unit,
    /** @type {number} */
    target: p.scoring.target,
    /** @type {boolean} */
    shortDeal: p.short_deal,
    ownerShows: p.show === 'owner',
    /** @type {Group} */
    signals: p.signals,
    spoilerLeads: p.tie_leader === 'spoiler',
    /** @type {Group} */
    turnup: p.turnup,
    /** What cards are worth beside each card turned up, once it was asked for. */
    worthsByTurnUp: /** @type {Map<number, import('./cards.mjs').Worths>} */ (new Map()),
    up: p.turnup === null ? 0 : 1
  }
}
