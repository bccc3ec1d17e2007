"""What one subject may do in a minute, and what an address counts as."""

from rows import each_row

from truc_server.timing import rate_limits
from truc_server.timing.rate_limits import Bucket, Meter, network_of, site_of

NOW = 1_000.0


class Metered:
    """A meter with one rate, a minute's worth at once unless it says otherwise."""

    def __init__(self, per_minute, burst=None) -> None:
        self.rate = (per_minute, burst or per_minute)
        self.meter = Meter()

    def __len__(self) -> int:
        return len(self.meter)

    def owes(self, subject, now) -> int:
        return self.meter.owes(subject, self.rate, now)

    def pay(self, subject, now) -> int:
        return self.meter.pay(subject, self.rate, now)

    def charge(self, subject, times, now) -> None:
        self.meter.charge(subject, self.rate, now, times=times)


def test_bucket_gives_its_burst_says_when_it_gives_more_and_is_overdrawn_after_twice_as_much_on_credit():
    bucket = Bucket(rate=10, burst=2, now=0)
    assert [bucket.take(0) for _ in range(3)] == [True, True, False]
    assert bucket.wait_ms == 201
    assert [bucket.take(100) for _ in range(3)] == [True, True, False]  # full again, and no fuller
    for _ in range(3):
        bucket.take(100)
    assert not bucket.is_overdrawn
    bucket.take(100)
    assert bucket.is_overdrawn


def spent(per_minute=5) -> Metered:
    """Return a meter on which one subject has just paid a minute's worth."""
    meter = Metered(per_minute)
    for _ in range(per_minute):
        assert meter.pay("a", NOW) == 0
    return meter


@each_row(
    "subject, later_s, wait_ms",
    [
        ("a", 0, 12_001),
        ("a", 6, 6_001),  # part of a token shortens the wait
        ("a", 12.001, 0),
        ("b", 0, 0),  # subjects are counted apart
    ],
)
def test_one_more_than_a_minutes_worth_waits_for_its_token(subject, later_s, wait_ms):
    assert spent(5).pay(subject, NOW + later_s) == wait_ms


def test_what_is_refused_or_only_asked_costs_nothing():
    meter = spent(5)
    for _ in range(10):
        meter.pay("a", NOW)
    assert meter.owes("a", NOW) == 12_001
    once = Metered(1)
    once.owes("a", NOW)
    assert once.pay("a", NOW) == 0


def test_tokens_do_not_grow_above_the_burst():
    meter = spent(5)
    paid = [meter.pay("a", NOW + 3_600) for _ in range(6)]
    assert (paid[:5], paid[5] > 0) == ([0] * 5, True)


def test_burst_may_be_more_than_a_minutes_worth():
    meter = Metered(1, burst=3)
    assert [meter.pay("a", NOW) for _ in range(4)] == [0, 0, 0, 60_001]


def test_whoever_has_paid_waits_less_at_a_higher_rate_and_gets_nothing_back():
    meter = spent(1)
    assert meter.owes("a", NOW) == 60_001
    meter.rate = (2, 2)
    assert meter.owes("a", NOW) == 30_001


def test_nothing_is_kept_of_who_could_pay_everything_again():
    meter = spent()
    meter.pay("b", NOW + 60)
    assert len(meter) == 1


def test_who_paid_longest_ago_is_forgotten_first(monkeypatch):
    monkeypatch.setattr(rate_limits, "MAX_SUBJECTS", 2)
    meter = Metered(1)
    for subject in ("a", "b", "c"):
        meter.pay(subject, NOW)
    assert [meter.owes(subject, NOW) > 0 for subject in ("a", "b", "c")] == [False, True, True]
    assert len(meter) == 2


def test_what_was_taken_elsewhere_is_owed_here_up_to_a_burst():
    meter = Metered(2)
    meter.charge("a", 1, NOW)
    assert meter.pay("a", NOW) == 0
    assert meter.owes("a", NOW) == 30_001
    meter.charge("a", 100, NOW)
    assert meter.owes("a", NOW) == 30_001


def test_who_pays_again_is_not_forgotten_before_others(monkeypatch):
    monkeypatch.setattr(rate_limits, "MAX_SUBJECTS", 2)
    meter = Metered(2)
    for subject in ("a", "b", "a", "c"):
        meter.pay(subject, NOW)
    assert meter.owes("a", NOW) > 0


@each_row(
    "address, network, site",
    [
        ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
        ("::1", "::/64", "::/48"),
        ("gone", "gone", "gone"),
    ],
)
def test_address_counts_as_its_network_and_networks_of_ipv6_are_in_a_site(address, network, site):
    assert (network_of(address), site_of(network)) == (network, site)
