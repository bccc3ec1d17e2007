"""How players stand, as statements in the caller's transaction: skills by game and number of seats.

Invariant: a match changes the skills in the transaction that stores its last record, so that it is rated once or not at
all.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import structlog
from openskill.models import PlackettLuce
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from truc_protocol.codec import sha256
from truc_server.storage import ForgetPlayer, RankedRating, RatedPlayer, RateMatch, Rating, Write
from truc_server.storage.column_types import ColumnError
from truc_server.storage.engine import damage_in
from truc_server.storage.schema import ratings

SCALE: Final = 100  # points and doubt are told in whole hundredths of the model's unit
# Players are ranked by what they are almost certainly worth: 99.9 % of all skills guessed like this are
# above.
_DEVIATIONS_BELOW: Final = 3
_MODEL: Final = PlackettLuce()
_FAR: Final = 10_000.0  # from any skill that matches lead to
_MOST_GAMES: Final = 1_000  # in a profile; no server offers so many

log = structlog.get_logger()


class Skill(NamedTuple):
    """A player's skill in one game, as far as it is known; by default a newcomer's."""

    mean: float = _MODEL.mu
    deviation: float = _MODEL.sigma

    @property
    def points(self) -> int:
        """What players are ranked by."""
        return round(SCALE * (self.mean - _DEVIATIONS_BELOW * self.deviation))

    @property
    def doubt(self) -> int:
        """How uncertain the guess is."""
        return round(SCALE * self.deviation)


def after_match(
    winners: Sequence[Skill], losers: Sequence[Skill]
) -> tuple[tuple[Skill, ...], tuple[Skill, ...]]:
    """Return the skills of both sides after a match between them."""
    sides = [
        [_MODEL.rating(mu=skill.mean, sigma=skill.deviation) for skill in side] for side in (winners, losers)
    ]
    won, lost = (tuple(Skill(new.mu, new.sigma) for new in side) for side in _MODEL.rate(sides))
    return won, lost


_AHEAD: Final = ratings.alias("ahead")
_RANK: Final = (
    select(func.count() + 1)
    .where(
        _AHEAD.c.variant == ratings.c.variant,
        _AHEAD.c.seats == ratings.c.seats,
        _AHEAD.c.points > ratings.c.points,
    )
    .correlate(ratings)
    .scalar_subquery()
)
_RATINGS: Final = select(*(ratings.c[field] for field in Rating._fields))
_RANKED: Final = _RATINGS.add_columns(_RANK)


def lock_players(connection: Connection, writes: Iterable[Write]) -> None:
    """Keep other processes from changing the skills of the players in these writes until the transaction ends."""
    # All at once and in one order, so that two processes never wait for each other. In SQLite a transaction
    # keeps all others waiting anyhow.
    players = {player for write in writes for player in _concerned(write)}
    if connection.dialect.name == "postgresql":
        for number in sorted(map(_lock_of, players)):
            connection.execute(select(func.pg_advisory_xact_lock(number)))


def _concerned(write: Write) -> tuple[bytes, ...]:
    match write:
        case RateMatch():
            return tuple(rated.player for rated in write.winners + write.losers)
        case ForgetPlayer():
            return (write.player,)
        case _:
            return ()


def _lock_of(player: bytes) -> int:
    return int.from_bytes(sha256(b"ratings" + player)[:8], signed=True)


def rate(connection: Connection, matches: Iterable[RateMatch]) -> None:
    """Change the skills of all who have played these matches, one after the other."""
    for match in matches:
        winners, losers = (
            tuple(_rating(connection, match, player) for player in side)
            for side in (match.winners, match.losers)
        )
        won, lost = after_match(_skills(winners), _skills(losers))
        for rating, skill in zip(winners + losers, won + lost, strict=True):
            _save(connection, _counted(rating, skill, won=rating in winners))


def leaderboard(
    connection: Connection, variant: str, seats: int, *, first: int, limit: int
) -> tuple[RankedRating, ...]:
    """Return the standings in a game, best first, leaving out the `first` best."""
    board = _RANKED.where(ratings.c.variant == variant, ratings.c.seats == seats)
    best_first = board.order_by(ratings.c.points.desc(), ratings.c.player)
    return _standings(connection, best_first, first=first, limit=limit)


def profile(connection: Connection, tag: str) -> tuple[RankedRating, ...]:
    """Return the standings of a player in every game, by their tag."""
    own = _RANKED.where(ratings.c.tag == tag).order_by(ratings.c.variant, ratings.c.seats)
    return _standings(connection, own, first=0, limit=_MOST_GAMES)


def unrate(connection: Connection, tag: str) -> int:
    """Drop the ratings of a player, by their tag; return how many there were."""
    found = connection.execute(select(ratings.c.player).where(ratings.c.tag == tag).distinct()).scalars()
    lock_players(connection, [ForgetPlayer(player) for player in found])
    return connection.execute(delete(ratings).where(ratings.c.tag == tag)).rowcount


def _rating(connection: Connection, match: RateMatch, player: RatedPlayer) -> Rating:
    """Return how a player stood before a match, under the name they began it with."""
    found = _known(connection, match, player)
    if found is not None:
        return found._replace(name=player.name)
    skill = Skill()
    return Rating(match.variant, match.seats, *player, *skill, skill.points, matches=0, won=0)


def _known(connection: Connection, match: RateMatch, player: RatedPlayer) -> Rating | None:
    """Return a stored rating; None if there is none, or a damaged one, which must not keep the match's end from being stored."""
    with _damage_told(log.warning, "rating_begun_anew"):
        row = connection.execute(_RATINGS.where(*_key(match.variant, match.seats, player.player))).first()
        return None if row is None else _whole(row)
    return None


def _whole(row: Iterable[Any]) -> Rating:
    """Return a rating as it is stored.

    Raises:
        ColumnError: Its skill is none that matches lead to.
    """
    rating = Rating._make(row)
    if not (abs(rating.mean) < _FAR and 0 < rating.deviation < _FAR):
        raise ColumnError("expected a skill in ratings.mean and ratings.deviation, got other numbers")
    return rating


@contextmanager
def _damage_told(tell: Callable[..., object], event: str) -> Iterator[None]:
    """Tell the log of an event, and go on behind the block, if all that is wrong in it is that a row is damaged."""
    try:
        yield
    except (SQLAlchemyError, ColumnError) as error:
        if (damage := damage_in(error)) is None:
            raise
        tell(event, reason=damage)


def _skills(side: Iterable[Rating]) -> tuple[Skill, ...]:
    return tuple(Skill(rating.mean, rating.deviation) for rating in side)


def _counted(rating: Rating, skill: Skill, *, won: bool) -> Rating:
    """Return how a player stands after one more match."""
    return rating._replace(
        mean=skill.mean,
        deviation=skill.deviation,
        points=skill.points,
        matches=rating.matches + 1,
        won=rating.won + won,
    )


def _key(variant: str, seats: int, player: bytes) -> tuple[ColumnElement[bool], ...]:
    return (ratings.c.variant == variant, ratings.c.seats == seats, ratings.c.player == player)


def _save(connection: Connection, rating: Rating) -> None:
    connection.execute(delete(ratings).where(*_key(rating.variant, rating.seats, rating.player)))
    connection.execute(insert(ratings), [rating._asdict()])


def _standings(
    connection: Connection, query: Select[Any], *, first: int, limit: int
) -> tuple[RankedRating, ...]:
    """Return at most `limit` standings, leaving out the `first` ones and those that are damaged."""
    try:
        return _page(connection, query, first, limit)
    except (SQLAlchemyError, ColumnError) as error:
        if damage_in(error) is None:
            raise
    # One by one, and on to a full page: whoever reads page by page takes a shorter one for the last.
    found: list[RankedRating] = []
    for place in range(first, first + 2 * limit):
        with _damage_told(log.warning, "row_not_read"):
            one = _page(connection, query, place, 1)
            found += one
            if not one or len(found) == limit:
                break
    return tuple(found)


def _page(connection: Connection, query: Select[Any], first: int, limit: int) -> tuple[RankedRating, ...]:
    rows = connection.execute(query.offset(first).limit(limit)).all()
    return tuple(RankedRating(_whole(rating), rank) for *rating, rank in rows)
