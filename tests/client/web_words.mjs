// What the page calls moves, facts and the things around them, as it is asked in one line of JSON: see test_web_words.py.

import { readFileSync } from 'node:fs'
import { Speech } from '../../client/truc_web/page/words.mjs'

const { catalogues, sets, games, numbers } = JSON.parse(readFileSync(0, 'utf8'))

/** A terminal has no room for the names of cards. */
class Terse extends Speech {
  /** @param {string[]} names */
  cards(names) {
    return names.map((name) => `${this.catalogue.letters[name.slice(0, -1)] ?? name.slice(0, -1)}${name.slice(-1)}`).join(' ')
  }
}

const told = Object.fromEntries(catalogues.map((catalogue) => [catalogue.lang, games.map(({ words, names, cards, moves, facts }) => {
  const speech = new Terse(catalogue, sets, words, cards)
  return {
    moves: moves.map(([key, hints, answering]) => ({ ...speech.move({ key, kind: key.split(' ')[0], hints }, answering, names), meaning: speech.meaning(key, answering, hints) })),
    facts: facts.map((fact) => speech.tell(fact, names)),
    stakes: ['rest', 'game', 'trut', 4].map((stake) => speech.stake(stake)),
    reasons: Object.keys(catalogue.reasons).map((reason) => speech.reason(reason)),
    counted: Object.keys(catalogue.counts).flatMap((what) => numbers.map((n) => speech.counted(what, n))),
    halves: numbers.map((n) => speech.half(n, 30)),
    sides: [0, 1].map((side) => speech.side(side, names)),
    signs: Object.keys(catalogue.signs).map((sign) => speech.sign(sign)),
    phrases: Object.keys(catalogue.phrases).map((phrase) => speech.phrase(phrase)),
    terms: Object.keys(catalogue.terms).map((term) => speech.term(term)),
    next: speech.local.next_sits ?? 'right'
  }
})]))
console.log(JSON.stringify(told))
