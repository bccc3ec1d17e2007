// How a match is told: in the player's language, with each game's own words. The catalogues are those of truc_words, and
// so is the way they are used: move_label and tell of its moves.py and facts.py, as far as a page needs them.

/** @typedef {Record<string, any>} Catalogue */

const ANSWERS = ['accept', 'decline']
const PEOPLE = ['seat', 'leader', 'target', 'opponent', 'giver', 'receiver']
const SIDES = ['side', 'winner']

/** Facts that have a sentence of their own for some values of this field. @type {Record<string, string>} */
const VALUED = {
  trick_won: 'leader', trick_tied: 'leader', ruled: 'ruling', flor_claim_settled: 'held', order_given: 'order',
  envido_called: 'call', contraflor_called: 'call', unit_scored: 'kept', match_ended: 'reason'
}

/** The facts that are somebody's words, as moves: the kind, the field of its value, what it answers. */
/** @type {Record<string, { kind?: string, field?: string, answering?: string }>} */
export const SAID = {
  stood: { kind: 'stand' },
  last_point_taken: { kind: 'accept', answering: 'last-point' },
  last_point_declined: { kind: 'decline', answering: 'last-point' },
  stake_asked: { kind: 'raise', field: 'stake' },
  stake_accepted: { kind: 'accept', answering: 'stake' },
  stake_declined: { kind: 'decline', answering: 'stake' },
  conceded: { kind: 'concede' },
  envido_called: { field: 'call' },
  envido_accepted: { kind: 'accept', answering: 'envido' },
  envido_declined: { kind: 'decline', answering: 'envido' },
  value_yielded: { kind: 'good' },
  flor_declared: { kind: 'flor' },
  flor_folded: { kind: 'flor-fold' },
  contraflor_called: { field: 'call' },
  contraflor_accepted: { kind: 'accept', answering: 'flor' },
  flor_claimed: { kind: 'claim' },
  tapped: { kind: 'tap' },
  redeal_proposed: { kind: 'redeal' },
  redeal_agreed: { kind: 'accept', answering: 'redeal' },
  redeal_granted: { kind: 'accept', answering: 'redeal' },
  redeal_refused: { kind: 'decline', answering: 'redeal' }
}

/** Fill in the {names} of a text. @param {string} text @param {Record<string, any>} values */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => name in values ? String(values[name]) : whole)

/** Whether a pack has French suits. @param {string[]} pack */
export const isFrench = (pack) => pack.some((card) => card.endsWith('h'))

/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1)

/** What is asked with a card, else the move itself. @param {string} key */
const askedBy = (key) => key.startsWith('play ') && key.includes(' raise ') ? key.slice(key.indexOf(' raise ') + 1) : key

/** Whether a move takes the remainder that was asked for: then nothing is left to decline. @param {string} line @param {Record<string, any>} hints */
const isTaken = (line, hints) => line === 'raise rest' && 'stake' in hints && !('declined' in hints)

/**
 * What replaces whole words of a text: what the players of a game say instead.
 *
 * @param {Record<string, string>} instead
 * @returns {(text: string) => string}
 */
function swap(instead) {
  const known = { ...instead }
  for (const [plain, own] of Object.entries(instead)) known[capital(plain)] = capital(own)
  // the longest first, or a part of a longer expression would be replaced
  const words = Object.keys(known).sort((a, b) => b.length - a.length || (a < b ? 1 : -1))
  if (words.length === 0) return (text) => text
  const wanted = new RegExp(`\\{\\w*\\}|(?<![\\p{L}\\p{N}_])(?:${words.join('|')})(?![\\p{L}\\p{N}_])`, 'gu')
  return (text) => text.replace(wanted, (found) => known[found] ?? found)
}

/** A player's language and a game's own words. */
export class Speech {
  /** @param {Catalogue} catalogue of the player's language @param {Record<string, any>} sets of local words, by name @param {string} [words] the game's set @param {string[]} [pack] of the game */
  constructor(catalogue, sets, words = '', pack = []) {
    this.catalogue = catalogue
    this.sets = sets
    this.isFrench = isFrench(pack)
    this.local = sets[words] ?? {}
    this.swap = swap(this.local.instead?.[catalogue.lang] ?? {})
    /** The same with the words of a game, by its rules. @type {WeakMap<object, Speech>} */
    this.own = new WeakMap()
  }

  /** The same language with the words of a game, and for its cards. @param {{ params: any, pack: string[] } | null} rules */
  of(rules) {
    if (rules === null) return new Speech(this.catalogue, this.sets)
    const known = this.own.get(rules) ?? new Speech(this.catalogue, this.sets, rules.params.words, rules.pack)
    this.own.set(rules, known)
    return known
  }

  /** @param {string} path such as `page.sit_down` @param {Record<string, any>} [values] */
  say(path, values = {}) {
    const [part, ...name] = path.split('.')
    const text = this.catalogue[part]?.[name.join('.')]
    return typeof text === 'string' ? fill(this.swap(text), values) : path
  }

  /** @param {string} what @param {number} n */
  counted(what, n) {
    const spoken = this.local.counted?.[this.catalogue.lang] ?? {}
    const forms = spoken[what] ?? this.local.counts?.[what] ?? this.catalogue.counts[what]
    return fill(this.swap(forms[this.catalogue.singular.includes(n) ? 0 : 1]), { n })
  }

  /** The language of the game's own words. @returns {string} */
  get tongue() {
    return this.local.tongue ?? this.catalogue.lang
  }

  /** A stake: a number, or what is played for instead. @param {number | string} stake */
  stake(stake) {
    if (stake === 'rest' || stake === 'game') return this.say('said.whole_game')
    return stake === 'trut' ? this.counted('unit', 1) : String(stake)
  }

  /** @param {string} line @param {string} answering what it answers, '' if that is not known */
  moveKey(line, answering) {
    const [kind, ...rest] = line.split(' ')
    if (kind === 'raise' && answering === 'rest') return 'accept-rest'
    const special = ['order', 'raise'].includes(kind) && rest.length > 0 ? `${kind}-${rest[0]}` : `${kind}-${answering}`
    return special in this.catalogue.moves ? special : kind
  }

  /**
   * The game's own word for a move, null if it has none.
   *
   * @param {string} line
   * @param {Record<string, any>} hints
   * @param {string} answering
   * @returns {string | null}
   */
  ownWord(line, hints, answering) {
    const moves = this.local.moves ?? {}
    const [kind] = line.split(' ')
    const general = this.moveKey(line, answering)
    // a word for accepting a stake is not one for accepting new cards
    const isAnswer = ANSWERS.some((each) => general.startsWith(each)) && !ANSWERS.includes(general)
    const { stake, declined } = hints
    const isStep = kind === 'raise' && typeof stake === 'number' && typeof declined === 'number'
    const keys = isAnswer ? [general] : [...(general === kind ? [] : [general]), line, isStep ? `raise +${stake - declined}` : '', kind]
    const found = keys.find((key) => key in moves)
    return found === undefined ? null : fill(moves[found], { stake: line.split(' ').slice(1).join(' ') })
  }

  /**
   * A move in the player's language.
   *
   * @param {string} line
   * @param {string} answering
   * @param {string[]} names of the seats
   */
  plainWord(line, answering, names) {
    const [kind, ...rest] = line.split(' ')
    const words = this.catalogue.moves[this.moveKey(line, answering)]
    if (words === undefined) return line
    let value = rest.join(' ')
    if (kind === 'order') value = this.catalogue.ranks[value] ?? value
    if (kind === 'claim') value = names[Number(value)] ?? this.say('said.seat', { n: value })
    return fill(this.swap(words.label), { card: this.cards(rest), stake: this.stake(value), value })
  }

  /**
   * A move as a button has it: the game's word in its own tongue, what it means, and what it costs or brings.
   *
   * @param {{ key: string, kind: string, hints: Record<string, any> }} option
   * @param {string} answering
   * @param {string[]} names
   * @param {string | null} [rival] who scores what is lost, where that is one player
   * @returns {{ word: string, isOwn: boolean, gloss: string, cost: string }}
   */
  move({ key, hints }, answering, names, rival = null) {
    const line = askedBy(key)
    const answered = isTaken(line, hints) ? 'rest' : answering
    const plain = this.plainWord(line, answered, names)
    const own = this.ownWord(line, hints, answered)
    return { word: own ?? plain, isOwn: own !== null, gloss: own === null || own === plain ? '' : plain, cost: this.cost(line, hints, rival) }
  }

  /** @param {string} line @param {Record<string, any>} hints @param {string | null} rival */
  cost(line, { points, declined, loses, stake }, rival) {
    if (loses !== undefined && rival !== null) return this.say('page.rival_scores', { name: rival, loses: this.stake(loses) })
    if (loses !== undefined) return this.say('said.they_score', { loses: this.stake(loses) })
    if (points !== undefined) return this.say('said.bet_worth', { points: this.stake(points) })
    if (declined !== undefined) return stake === undefined ? this.say('said.if_declined', { declined }) : this.say('said.bet_worth', { points: this.stake(stake) })
    return stake !== undefined && /^(accept|play)/.test(line) ? this.say('said.hand_worth', { stake: this.stake(stake) }) : ''
  }

  /** A sentence that explains a move, or a kind of move. @param {string} key @param {string} [answering] @param {Record<string, any>} [hints] */
  meaning(key, answering = '', hints = {}) {
    const line = askedBy(key)
    const found = this.moveKey(line, isTaken(line, hints) ? 'rest' : answering)
    const isSame = found === 'raise-rest' && 'accept-rest' in (this.local.moves ?? {})     // only the same words take it
    return this.swap(this.catalogue.moves[isSame ? `${found}-same` : found]?.meaning ?? '')
  }

  /** Cards in a sentence. @param {string[]} names */
  cards(names) {
    return this.joined(names.map((name) => this.theCard(name)))
  }

  /** A card as it is spoken. @param {string} name */
  cardName(name) {
    const [rank, suit] = [name.slice(0, -1), name.slice(-1)]
    const page = this.catalogue.cards
    return fill(page.card, { rank: page[`rank_${rank}`] ?? rank, suit: page[`suit_${this.isFrench ? 'f' : ''}${suit}`] ?? suit })
  }

  /** With its article. @param {string} name */
  theCard(name) {
    const page = this.catalogue.cards
    return fill(page[`the_${name.slice(0, -1)}`] ?? page.the, { card: this.cardName(name) })
  }

  /**
   * A fact as a sentence; null for one that is shown in another way.
   *
   * @param {any} fact
   * @param {string[]} names of the seats
   * @returns {string | null}
   */
  tell(fact, names) {
    const text = this.textOf(fact)
    if (text === undefined) return null
    const across = names[(fact.seat + names.length / 2) % names.length]
    const values = Object.fromEntries(Object.entries(fact).map(([name, value]) => [name, this.filled(name, value, names)]))
    const plain = this.swap(text)
    const sentence = fill(plain, { unit: this.counted('unit', 1), partner: across, ...values })
    const own = this.local.facts?.[fact.what] ?? this.said(fact)
    return own === null || own === undefined || plain.includes(own)
      ? sentence : `${sentence} (${this.say('said.quote', { words: own })})`
  }

  /**
   * The same where a sentence begins: with a capital, but for a player's name, which is written as its owner writes it.
   *
   * @param {any} fact
   * @param {string[]} names of the seats
   */
  tellFirst(fact, names) {
    const text = this.tell(fact, names)
    const [, first = ''] = /^\{(\w+)\}/.exec(this.textOf(fact) ?? '') ?? []
    const isName = first === 'role' ? fact.role > 0 : [...PEOPLE, ...SIDES].includes(first)
    return text === null || isName ? text : capital(text)
  }

  /** The text of the catalogue for a fact, to be filled in; undefined for one that is shown in another way. @param {any} fact @returns {string | undefined} */
  textOf(fact) {
    const { facts } = this.catalogue
    const special = fact.what in VALUED ? `${fact.what}-${String(fact[VALUED[fact.what]]).toLowerCase()}` : ''
    const nobody = fact.leader === null ? `${fact.what}-none` : ''
    return facts[[special, nobody, fact.what].find((each) => each in facts) ?? '']
  }

  /** What a fact says in the game's own words; null if it is not somebody's words. @param {any} fact @returns {string | null} */
  said(fact) {
    const move = SAID[fact.what]
    if (move === undefined) return null
    const line = `${move.kind ?? ''} ${move.field ? fact[move.field] : ''}`.trim()
    // the first and the second call have words of their own there, and the fact does not tell which it is
    if (`${line}-${line}` in (this.local.moves ?? {})) return null
    const isRest = fact.what === 'stake_accepted' && fact.stake === 'rest' && 'accept-rest' in (this.local.moves ?? {})
    return this.ownWord(line, fact, isRest ? 'rest' : move.answering ?? '')
  }

  /** The words of a fact for a bubble: the game's, else the player's. @param {any} fact @param {string[]} names */
  bubble(fact, names) {
    const move = SAID[fact.what]
    if (move === undefined) return null
    const line = `${move.kind ?? ''} ${move.field ? fact[move.field] : ''}`.trim()
    const isAnswer = ANSWERS.includes(move.kind ?? '')     // said as the slot is called that it was pressed in
    return this.said(fact) ?? (isAnswer ? this.say(`slots.${move.kind}`) : this.plainWord(line, move.answering ?? '', names))
  }

  /** @param {string} name @param {any} value @param {string[]} names */
  filled(name, value, names) {
    if (SIDES.includes(name)) return value === null ? '' : this.side(value, names)
    if (name === 'seats') return this.joined(value.map((/** @type {number} */ seat) => names[seat]))
    if (name === 'role') return value === 0 ? this.say('said.the_server') : names[value - 1]
    if (PEOPLE.includes(name)) return value === null ? this.say('said.everybody') : names[value]
    if (name === 'stake') return this.stake(value)
    if (name === 'card') return this.cards([value])
    if (name === 'cards') return this.cards(value)
    if (name === 'each') return this.counted('card', value)
    if (name === 'points' || name === 'kept') return value === 'game' ? this.stake(value) : this.counted('point', value)
    if (name === 'order') return this.catalogue.ranks[value] ?? value
    if (name === 'reason') return this.reason(value)
    return value ?? ''
  }

  /** @param {string} reason */
  reason(reason) {
    const plain = this.catalogue.reasons[reason] ?? reason
    return fill(this.swap(this.local.reasons?.[reason] ?? plain), { unit: this.counted('unit', 1) })
  }

  /** @param {string[]} names */
  joined(names) {
    return names.length < 2 ? names.join('') : names.slice(0, -1).join(', ') + this.say('said.and') + names.at(-1)
  }

  /** How a side is called. @param {number} side @param {string[]} names */
  side(side, names) {
    return this.joined(names.filter((_, seat) => seat % 2 === side))
  }

  /** What a sign claims, and the gesture it is made by. @param {string} word */
  sign(word) {
    const gesture = this.local.gestures?.[word]
    return { word: this.local.signs?.[word] ?? this.catalogue.signs[word] ?? word, gesture: this.catalogue.gestures[gesture] ?? '' }
  }

  /** @param {string} phrase */
  phrase(phrase) {
    const { label = phrase, meaning = '' } = this.catalogue.phrases[phrase] ?? {}
    return { word: this.local.phrases?.[phrase] ?? label, meaning: this.swap(meaning) }
  }

  /** A role or thing of the game. @param {string} name */
  term(name) {
    return this.local.terms?.[name] ?? this.swap(this.catalogue.terms[name] ?? name)
  }

  /** Points of a game that is counted in halves: of 30, 8 as `8 malas`; '' where it is not. @param {number} points @param {number} target */
  half(points, target) {
    const { halves } = this.local
    if (!halves || !points) return ''
    const middle = Math.floor(target / 2)
    const n = points <= middle ? points : points - middle
    return fill(halves[points <= middle ? 'low' : 'high'][n === 1 ? 0 : 1], { n })
  }

  /** What went wrong, by an error's code. @param {string} code */
  refused(code) {
    const text = this.catalogue.errors?.[code] ?? this.catalogue.refused[code]
    return text === undefined ? this.say('page.failed', { code }) : fill(this.swap(text), { words: '' }).replace(/[:\s]+$/, '')
  }
}
