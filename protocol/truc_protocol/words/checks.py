"""What a failed check means to a player: what went wrong, what follows from it, and what to do.

One entry for each of the numbered checks; a test holds the two tables together. The texts are in English in every language, as
those of errors are. Who is to blame is never said here: that is a matter of the record.
"""

from typing import Final, NamedTuple


class CheckWords(NamedTuple):
    """Three sentences for people: `wrong` says what went wrong, `means` what follows from it, `do` what to do now."""

    wrong: str
    means: str
    do: str

    def __str__(self) -> str:
        return f"{self.wrong} {self.means} {self.do}"


_SHOW: Final = "Stop playing here, keep the files, and show them to the other players."
_ASK: Final = "Get the file again from somebody else who has it, and check that one."
_LEAVE: Final = "Do not sit down at this table; ask its host why."
_UPDATE: Final = (
    "Check that client and server are up to date; if they are, show the files to the host and the players."
)
_ASK_HOST: Final = "Ask the host by another way than this server before you connect again."

CHECK_WORDS: Final[dict[str, CheckWords]] = {
    "C1": CheckWords(
        "A record is not written as the protocol writes it.",
        "Its bytes were damaged, or made by a program that does not keep to the protocol.",
        _UPDATE,
    ),
    "C2": CheckWords(
        "A record has not the form that its kind must have.",
        "It was damaged, or made by a program that does not keep to the protocol.",
        _UPDATE,
    ),
    "C3": CheckWords(
        "A signature is false.",
        "The record was changed after it was signed, or was never made by whom it names.",
        _SHOW,
    ),
    "C4": CheckWords(
        "A key is of a kind that proves nothing.",
        "Signatures under such a key can be made by anybody, so nothing signed with it would count.",
        _LEAVE,
    ),
    "C5": CheckWords(
        "The rules or terms of the table do not fit together.",
        "The rules shown are not those that were signed, or the terms are none that the game allows.",
        _LEAVE,
    ),
    "C6": CheckWords(
        "The seats are not filled as this table's terms say.",
        "A seat is missing, stands in another place, joined another table, or there are more guests than agreed.",
        _LEAVE,
    ),
    "C7": CheckWords(
        "Two players brought the same key or commitment, or one that is unsafe.",
        "Somebody may sit at two seats, or has copied what only its owner may use.",
        _LEAVE,
    ),
    "C8": CheckWords(
        "The match does not begin with the seats that signed for it.",
        "Players were added, dropped or exchanged after you agreed.",
        _SHOW,
    ),
    "C9": CheckWords(
        "What the server sent is not what you agreed to, or not sent as it must be.",
        "Going on would mean to sign for other terms, another match or another move than your own.",
        "Stop playing here, and ask the host why.",
    ),
    "C10": CheckWords(
        "A record does not belong to this place of the match.",
        "The history before it was changed, or the record comes from another place or match.",
        _SHOW,
    ),
    "C11": CheckWords(
        "A record came at a moment when none of its kind may come.",
        "The order of a match is what protects the deal; out of order, cards could be known before they are fixed.",
        _SHOW,
    ),
    "C12": CheckWords(
        "A record speaks of another deal or seat than the one it is the turn of.",
        "It was made for another moment, or in the name of somebody else.",
        _SHOW,
    ),
    "C13": CheckWords(
        "The deal was called otherwise than the match demands.",
        "Who deals, how many cards, or where the pack is cut was chosen, not given by what went before.",
        _SHOW,
    ),
    "C14": CheckWords(
        "A secret number was opened that was not committed to before the match, or opened at the wrong time.",
        "Whoever opened it could have chosen it to get a better deal.",
        _SHOW,
    ),
    "C15": CheckWords(
        "A deal was made without every player's secret number, or one was asked for twice.",
        "A deal can be chosen by trying again with other numbers, so each is given once and all are needed.",
        _SHOW,
    ),
    "C16": CheckWords(
        "The first dealer was not drawn as the secret numbers say, or drawn twice.",
        "Somebody chose who deals first.",
        _SHOW,
    ),
    "C17": CheckWords(
        "The deal is not the one that was called.",
        "Cards are missing, are too many, or were dealt under other conditions than those fixed before.",
        _SHOW,
    ),
    "C18": CheckWords(
        "Your sealed cards are not the cards that were committed to.",
        "You would play cards that you cannot prove to hold, and could be made to lose the hand.",
        _SHOW,
    ),
    "C19": CheckWords(
        "A card was played that is not the card dealt there, or one that was played already.",
        "Somebody played a card that was not in that hand.",
        _SHOW,
    ),
    "C20": CheckWords(
        "A move was made that the rules do not allow.",
        "The match would go on from a position that cannot arise in this game.",
        _SHOW,
    ),
    "C21": CheckWords(
        "A move was made in the name of a player who did not sign it.",
        "Only a guest's moves are written down by the server; everybody with a key signs their own.",
        _SHOW,
    ),
    "C22": CheckWords(
        "The server made a ruling that it may not make, or made it otherwise than the rules fix.",
        "When time runs out what happens is fixed; the server would have chosen it.",
        _SHOW,
    ),
    "C23": CheckWords(
        "Cards were shown that nobody had to show, or not shown when they had to be.",
        "Somebody learned cards too early, or a claim was left without its proof.",
        _SHOW,
    ),
    "C24": CheckWords(
        "The score or the result is not what the cards and moves give.",
        "Points were added or taken away.",
        _SHOW,
    ),
    "C25": CheckWords(
        "The cards dealt are not those of the shuffle, or do not allow what was played.",
        "The server dealt other cards than the common shuffle gave, or let a false claim pass.",
        _SHOW,
    ),
    "C26": CheckWords(
        "A deal was thrown away without the silence that alone allows it, or what must follow did not.",
        "Throwing deals away is how a bad deal could be got rid of.",
        _SHOW,
    ),
    "C27": CheckWords(
        "New secret numbers were begun when they were not due, or more often than agreed.",
        "Fresh numbers at the right moment can be used to look for a better deal.",
        _SHOW,
    ),
    "C28": CheckWords(
        "Somebody took a seat that was not free.",
        "A player could be replaced in the middle of a match against the terms.",
        _SHOW,
    ),
    "C29": CheckWords(
        "Something happened while the match was paused.",
        "In a pause nobody has to look at the table, so nothing may be played.",
        _SHOW,
    ),
    "C30": CheckWords(
        "At the end the server did not open all of its secret numbers.",
        "What stayed closed could hide a deal that was not honest.",
        _SHOW,
    ),
    "C31": CheckWords(
        "At the end a sealed hand turned out to hold something else than the cards dealt.",
        "The server sent a player other cards than those it was bound to, or passed something on in secret.",
        _SHOW,
    ),
    "C32": CheckWords(
        "A seat confirmed the end of the match twice.",
        "The file was put together by somebody, or a player's program is broken.",
        _UPDATE,
    ),
    "C33": CheckWords(
        "The server showed two histories of the same match.",
        "What it told you is not what it told you before, or what it told others.",
        _SHOW,
    ),
    "C34": CheckWords(
        "A player signed two decisions for the same moment.",
        "One of them could be taken back, once it is known how it turns out.",
        _SHOW,
    ),
    "C35": CheckWords(
        "The server took a move after it had signed that it refused it.",
        "It collected two moves for one moment and chose between them.",
        _SHOW,
    ),
    "C36": CheckWords(
        "The server used the same terms for two matches.",
        "What you signed for one match could be used in another.",
        _SHOW,
    ),
    "C37": CheckWords(
        "The server could not prove that it is the one you know.",
        "Somebody may stand between you and the server, or its key has changed.",
        _ASK_HOST,
    ),
    "C38": CheckWords(
        "A login was not made for this connection.",
        "Somebody may have tried to use it a second time.",
        "Log in again.",
    ),
    "C39": CheckWords(
        "The server's new key does not follow from the one you know.",
        "Somebody else may use the server's name.",
        _ASK_HOST,
    ),
    "C40": CheckWords(
        "The server's key was revoked by its owner.",
        "It was stolen or is no longer used; whoever answers under it is not to be trusted.",
        _ASK_HOST,
    ),
    "C41": CheckWords(
        "The file cannot be read.",
        "It is of another kind, was cut off, or was damaged on its way; that says nothing about the match.",
        _ASK,
    ),
    "C42": CheckWords(
        "The match has no end in this file.",
        "All that is there may be sound, but the last openings are missing; who kept them back cannot be told.",
        "Get the file from another player, who may have more of it.",
    ),
}


def check_words(check: str) -> CheckWords:
    """Return what a failed check means to a player."""
    return CHECK_WORDS[check]
