// Section 6: a match, and each record as it comes.

package keyed;

import java.util.*;
import java.util.stream.*;

import static keyed.Keys.*;
import static keyed.Records.*;
import static keyed.Values.*;

final class Seat {
    byte[] pk, x;
    Chain chain;
    long rekeys, ruled;     // new chains before the old one was exhausted; moves ruled in a row
}

/** A hand: what its call fixed, its deals, and which (d, seat, slot) are open or covered. */
final class Hand {
    long dealer, ncards, cut, j;
    boolean isAsked, isRedealt, isDealt, isOpened;     // a redeal asked for, granted; cards dealt, all known
    TreeMap<Long, byte[]> links = new TreeMap<>();
    List<Fields> deals = new ArrayList<>();
    Set<List<Long>> opened = new HashSet<>(), covered = new HashSet<>();
    List<Object> named;     // seat and slot of a card played blind, until it is opened
}

/** One match: its setup, then every record as it comes (section 6). */
final class Match {
    final byte[] doc, mid, spk;
    final Fields terms;
    final Map<Object, Object> rules = new HashMap<>();
    final List<Raw> records;
    final List<Seat> seats = new ArrayList<>();
    final List<Chain> server = new ArrayList<>();
    final List<Hand> hands = new ArrayList<>();
    final Set<String> used = new HashSet<>();
    final Set<Long> pausing = new HashSet<>(), acked = new HashSet<>(), newcomers = new HashSet<>();
    final List<Object> pack;
    final long[] opts;
    long k, k0, j, dealer, ncards, cut, voids;
    byte[] head, head0;
    String phase = "between";
    boolean isDrawn, isPaused;
    Hand hand = new Hand();
    Set<Long> silent = Set.of();     // named by the void just before, unless that was the draw's
    List<Object> outcome;     // winner, reason

    Match(byte[] doc, List<Raw> setup, byte[] spk) {
        this.doc = doc; this.spk = spk; terms = readTerms(doc, setup.get(0), spk);
        opts = optsOf(terms.l("opts")); pack = items(canonical(doc).get(4));
        items(canonical(doc).get(5)).forEach(pair -> rules.put(items(pair).get(0), items(pair).get(1)));
        must(pack.size() == terms.n("deck") && setup.size() == terms.n("seats") + 2, "C5", SERVER);
        claim(spk, terms, SERVER);
        server.add(new Chain(spk, terms.b("tn"), 0, terms.n("links"), terms.b("anchor")));
        Raw last = setup.get(setup.size() - 1);
        List<Object> hashes = list();
        for (Raw raw : setup.subList(1, setup.size() - 1)) hashes.add(readSeat(raw, hashes.size()));
        must(holds(spk, last.body(), last.sig()), "C3", NOBODY);
        must(same(last.body(), enc(list("truc/1/match", sha256(setup.get(0).body()), hashes))), "C8", NOBODY);
        mid = head = head0 = sha256(last.body()); records = new ArrayList<>(setup);
    }

    byte[] readSeat(Raw raw, long number) {
        Fields f = Fields.read(canonical(raw.body()), raw.signer() == 0 ? "guest" : "seat");
        Seat seat = new Seat();
        seat.pk = f.b("pk"); seat.x = f.b("x");
        must(seat.pk == null || isAdmissible(seat.pk), "C4", NOBODY);
        must(holds(seat.pk == null ? spk : seat.pk, raw.body(), raw.sig()), "C3", NOBODY);
        must(f.n("seat") == number && raw.signer() == (seat.pk == null ? 0 : number + 1), "C6", NOBODY);
        claim(seat.pk, f, seat.pk == null ? SERVER : NOBODY);
        if (seat.pk != null) seat.chain = newChain(seat.pk, f, 0);
        seats.add(seat);
        return sha256(raw.body());
    }

    Chain newChain(byte[] pk, Fields f, long first) {
        return new Chain(pk, terms.b("tn"), first, terms.n("links"), f.b("anchor"));
    }

    /** C7: all keys, anchors and x of a match differ. */
    void claim(byte[] pk, Fields f, Long culprit) {
        byte[] x = f.b("x");
        must(x == null || little(x).compareTo(P) < 0 && exchange(random(32), x) != null, "C7", culprit);
        for (Object one : list(pk, f.get("anchor"), x)) must(one == null || used.add(hex(one)), "C7", NOBODY);
    }

    Seat seat(long number) { return seats.get((int) number); }
    byte[] keyOf(long role) { return role == 0 ? spk : seat(role - 1).pk; }
    Chain chainOf(long role) { return role == 0 ? server.get(server.size() - 1) : seat(role - 1).chain; }
    LongStream numbers() { return LongStream.range(0, seats.size()); }

    /** The keyed seats without a release. */
    Set<Long> missing() {
        LongStream keyed = numbers().filter(q -> keyOf(q + 1) != null);
        return keyed.filter(q -> !hand.links.containsKey(q + 1)).boxed().collect(Collectors.toSet());
    }

    boolean isHere(List<Object> v, boolean isParallel) {
        List<Object> place = list(mid, isParallel ? k0 : k, isParallel ? head0 : head);
        return same(enc(place), enc(v.subList(1, 4)));
    }

    void take(Raw raw) {
        List<Object> v = canonical(raw.body());
        try {
            take(raw, v, v.get(0).toString().replace("truc/1/", ""));
        } catch (ClassCastException | IndexOutOfBoundsException | NullPointerException shape) {
            boolean isBound = v.size() > 3 && (isHere(v, true) || isHere(v, false)) && raw.signer() <= seats.size();
            byte[] key = isBound && !newcomers.contains(raw.signer()) ? keyOf(raw.signer()) : null;
            throw new Failed("C2", key != null && holds(key, raw.body(), raw.sig()) ? (Long) raw.signer() : NOBODY);
        }
    }

    void take(Raw raw, List<Object> v, String kind) {
        Fields f = Fields.read(v, kind);
        boolean isParallel = List.of("release", "ack").contains(kind), isSub = kind.equals("sub");
        boolean isSeats = isParallel || isSub || List.of("act", "resign").contains(kind);
        boolean isSigned = !kind.equals("proxy");
        long role = kind.equals("rekey") ? f.n("role") : isSeats ? f.n("seat") + 1 : 0;
        if (raw.signer() != role || raw.sig().length != (isSigned ? 64 : 0)) throw new ClassCastException("the signer");
        must(role <= seats.size(), "C12", NOBODY);
        byte[] key = isSub ? f.b("pk") : keyOf(role);
        must(key != null, "C21", NOBODY);
        must(!isSub || isAdmissible(key), "C4", NOBODY);
        must(!isSigned || holds(key, raw.body(), raw.sig()), "C3", NOBODY);
        must(isHere(v, isParallel), "C10", NOBODY);
        Long by = !isSigned || isSub || newcomers.contains(role) ? NOBODY : (Long) role;
        must(List.of(KINDS.get(kind)[1].split(" ")).contains(phase), "C11", by);
        must(f.get("j") == null || f.n("j") == j, "C12", by);
        for (Object q : f.of("seat", "giver", "receiver")) must(q == null || n(q) < seats.size(), "C12", by);
        must(hand.named == null || kind.equals("open"), "C23", role == 0 ? by : NOBODY);
        fold(kind, f, by);
        head = H("link", head, raw.signer(), raw.body(), raw.sig()); k++;
        if (!isParallel) {
            k0 = k; head0 = head;
        }
        if (role == 0 && isSigned) newcomers.clear();
        if (isSub) newcomers.add(role);
        records.add(raw);
    }

    void fold(String kind, Fields f, Long by) {
        Seat seat = f.get("seat") == null ? null : seat(f.n("seat"));
        switch (kind) {
            case "call" -> call(f);
            case "release" -> {
                byte[] before = hand.links.get(f.n("seat") + 1);
                must(before == null, "C15", same(before, f.b("link")) ? NOBODY : by);
                open(f.n("seat") + 1, f.b("link"), by);
            }
            case "draw" -> {
                must(missing().isEmpty(), "C15", SERVER);
                must(!isDrawn, "C16", SERVER);
                open(0, f.b("link"), SERVER);
                int first = new Bytes(H("drawseed", mid, j, links(hand))).below(seats.size());
                must(f.n("first") == first, "C16", SERVER);
                isDrawn = true;
                next(f.n("first"));
            }
            case "deal" -> deal(f);
            case "act", "proxy" -> {
                must(kind.equals("act") == (seat.pk != null), "C21", NOBODY);
                if (f.t("kind").equals("pause")) pausing.add(f.n("seat"));
                if (f.t("kind").equals("resign")) over(1 - f.n("seat") % 2, "resigned");
                if (!List.of("pause", "resume").contains(f.t("kind"))) seat.ruled = 0;
                decide(f, by);
            }
            case "open" -> {
                Object slot = items(f.l("openings").get(0)).get(0);
                must(hand.named == null || hand.named.equals(list(f.get("seat"), slot)), "C23", by);
                f.l("openings").forEach(opening -> uncover(f.n("seat"), items(opening), by));
                hand.named = null;
            }
            case "rule" -> rule(f.t("ruling"), seat, f);
            case "close" -> close(f);
            case "void" -> {
                must(!missing().isEmpty() && missing().equals(new HashSet<>(f.l("seats"))), "C26", by);
                serverLink(f.b("link"));
                silent = isDrawn ? missing() : Set.of(); voids++; phase = "between"; j++;
            }
            case "rekey" -> begin(f, f.n("role"), by);
            case "sub" -> {
                must(opts[4] == 1 && isGone(f.n("seat")) && f.n("first") == j, "C28", by);
                claim(f.b("pk"), f, NOBODY);
                seat.pk = f.b("pk"); seat.x = f.b("x"); seat.chain = newChain(seat.pk, f, j);
                seat.ruled = seat.rekeys = 0;
            }
            case "resign" -> over(1 - f.n("seat") % 2, "resigned");
            case "end" -> end(f);
            case "ack" -> must(acked.add(f.n("seat")), "C32", NOBODY);
            default -> { }
        }
    }

    void over(Long winner, String reason) { outcome = list(winner, reason); phase = "over"; }
    void next(long who) { phase = "between"; dealer = who; ncards = 3; cut = 0; j++; }

    void call(Fields f) {
        List<Object> roles = list(0L);
        numbers().filter(q -> keyOf(q + 1) != null).forEach(q -> roles.add(q + 1));
        must(f.of("dealer", "ncards", "cut", "roles").equals(list(dealer, ncards, cut, roles)), "C13", SERVER);
        must(roles.stream().allMatch(role -> j < chainOf(n(role)).last), "C13", SERVER);
        hand = new Hand(); hand.dealer = dealer; hand.ncards = ncards; hand.cut = cut; hand.j = j;
        silent = Set.of(); phase = "called";
    }

    void open(long role, byte[] link, Long by) {
        must(chainOf(role).fits(j + 1, link), "C14", by);
        chainOf(role).at = j + 1; chainOf(role).newest = link;
        hand.links.put(role, link);
    }

    void serverLink(byte[] link) {
        must((link == null) == terms.t("policy").equals("match"), "C14", SERVER);
        if (link != null) open(0, link, SERVER);
    }

    List<Object> links(Hand hand) {
        List<Object> links = list();
        hand.links.forEach((role, link) -> links.add(list(role, link)));
        return links;
    }

    void deal(Fields f) {
        boolean isFirst = phase.equals("called");
        must(isDrawn, "C16", SERVER);
        must(missing().isEmpty(), "C15", SERVER);
        must((isFirst || hand.isRedealt) && f.n("d") == hand.deals.size(), "C17", SERVER);
        must(f.of("dealer", "ncards", "cut").equals(list(hand.dealer, hand.ncards, hand.cut)), "C17", SERVER);
        must(f.l("leaves").size() == seats.size() && f.l("boxes").size() == seats.size(), "C17", SERVER);
        must(f.l("leaves").stream().allMatch(own -> items(own).size() == hand.ncards), "C17", SERVER);
        must(f.l("up").size() == (isFirst && rules.get("turnup") != null ? 1 : 0), "C17", SERVER);
        List<Boolean> sealed = f.l("boxes").stream().map(box -> ((byte[]) box).length > 0).toList();
        boolean isBlind = same(rules.get("blind"), true) && !sealed.contains(true);
        must(isBlind || sealed.equals(seats.stream().map(seat -> seat.x != null).toList()), "C17", SERVER);
        hand.deals.add(f);
        hand.isRedealt = hand.isAsked = false; hand.isDealt = true; phase = "hand";
    }

    void decide(Fields f, Long by) {
        List<Object> args = f.l("args");
        switch (f.t("kind")) {
            case "cut" -> cut = n(args.get(0));
            case "deal" -> ncards = n(args.get(0));
            case "play" -> uncover(f.n("seat"), args, by);
            case "show" -> items(args.get(0)).forEach(opening -> uncover(f.n("seat"), items(opening), by));
            case "cover" -> hand.covered.add(List.of((long) hand.deals.size() - 1, f.n("seat"), n(args.get(0))));
            case "blind" -> hand.named = list(f.get("seat"), args.get(0));
            case "order" -> { return; }
            default -> { }
        }
        hand.isRedealt = f.t("kind").equals("accept") && hand.isAsked;
        hand.isAsked = f.t("kind").equals("redeal") || hand.isRedealt;
    }

    /** C19. */
    void uncover(long seat, List<Object> opening, Long by) {
        long d = hand.deals.size() - 1, slot = n(opening.get(0));
        must(hand.isDealt && slot < hand.ncards && hand.opened.add(List.of(d, seat, slot)), "C19", by);
        byte[] leaf = H("leaf", mid, j, d, seat, slot, opening.get(1), opening.get(2));
        must(same(leaf, items(hand.deals.get((int) d).l("leaves").get((int) seat)).get((int) slot)), "C19", by);
    }

    boolean isAbsent(long q) { return opts[9] > 0 && seat(q).ruled >= opts[9]; }
    boolean isGone(long q) { return silent.contains(q) || isAbsent(q); }
    boolean isSideGone(long side) { return numbers().anyMatch(q -> q % 2 == side && isGone(q)); }

    /** C22. */
    void rule(String ruling, Seat seat, Fields f) {
        boolean isExhausted = seat != null && seat.chain != null && phase.equals("between") && j >= seat.chain.last;
        boolean mayForfeit = opts[4] != 2 || voids > opts[3];
        boolean isFit = (seat != null) == List.of("move", "forfeit").contains(ruling);
        must(isFit && switch (ruling + " " + f.get("kind")) {
            case "forfeit silent" -> mayForfeit && silent.contains(f.n("seat"));
            case "forfeit absent" -> mayForfeit && (isAbsent(f.n("seat")) || isExhausted);
            case "abandon server" -> true;
            case "abandon voids" -> voids > opts[3];
            case "abandon empty" -> isSideGone(0) && isSideGone(1);
            case "pause null" -> !isPaused && pausing.size() == seats.size();
            case "resume null" -> isPaused;
            default -> ruling.equals("move") && opts[0] != 0 && isMove(f);
        }, "C22", SERVER);
        if (ruling.equals("move")) {
            seat.ruled++;
            decide(f, SERVER);
        } else if (ruling.equals("forfeit")) over(1 - f.n("seat") % 2, "forfeit");
        else if (ruling.equals("abandon")) over(null, "abandoned");
        else {
            isPaused = ruling.equals("pause");
            pausing.clear();
        }
    }

    // Of a card the lowest slot left, under a binding order any, without ask.
    boolean isMove(Fields f) {
        if (!List.of("play", "blind").contains(f.t("kind"))) return true;
        Object signals = rules.get("signals");
        boolean isBound = signals != null && items(signals).contains(list("orders", "binding"));
        boolean isLowest = LongStream.range(0, n(f.l("args").get(0))).allMatch(slot -> {
            List<Long> place = List.of((long) hand.deals.size() - 1, f.n("seat"), slot);
            return hand.opened.contains(place) || hand.covered.contains(place);
        });
        return (isLowest || isBound) && (f.t("kind").equals("blind") || f.l("args").get(3) == null);
    }

    // C27, C7: a new chain.
    void begin(Fields f, long role, Long by) {
        boolean isExhausted = j >= chainOf(role).last, isServer = role == 0;
        must(f.n("first") == j && (f.b("x") == null) == isServer, "C27", by);
        must(isExhausted || !isServer && seat(role - 1).rekeys++ < opts[6], "C27", by);
        claim(null, f, NOBODY);
        if (isServer) server.add(newChain(spk, f, j));
        else {
            seat(role - 1).chain = newChain(keyOf(role), f, j);
            seat(role - 1).x = f.b("x");
        }
    }

    // C25: every deal of a hand follows from its links.
    void recompute(Hand hand) {
        byte[] seed = H("seed", mid, hand.j, links(hand));
        var cards = order(seed, pack.size(), (int) hand.cut).iterator();
        for (Fields deal : hand.deals) {
            for (long slot = 0; slot < hand.ncards; slot++) {
                for (long q = 1; q <= seats.size(); q++) {
                    long d = deal.n("d"), to = (hand.dealer + q) % seats.size(), card = cards.next();
                    byte[] salt = Arrays.copyOf(H("salt", seed, d, to, slot), 16);
                    byte[] leaf = H("leaf", mid, hand.j, d, to, slot, card, salt);
                    must(same(leaf, items(deal.l("leaves").get((int) to)).get((int) slot)), "C25", SERVER);
                }
            }
            deal.l("up").forEach(card -> must(n(card) == cards.next(), "C25", SERVER));
        }
        hand.isOpened = true;
    }

    void close(Fields f) {
        boolean isOver = phase.equals("over");
        must(hand.isDealt, "C24", SERVER);
        serverLink(f.b("link"));
        if (f.b("link") != null) recompute(hand);
        must(f.t("reason").equals(isOver ? "ended" : "hand"), "C24", SERVER);
        hands.add(hand);
        hand = new Hand();
        pausing.clear();
        next((dealer + 1) % seats.size());
        if (isOver) phase = "over";
        for (long side = 0; side < 2 && !isOver; side++) {
            long games = n(items(f.l("score").get((int) side)).get(0));
            if (games >= (n(rules.get("match")) + 1) / 2) over(side, "won");
        }
    }

    // C24, C30, C31; C25 of what is still closed.
    void end(Fields f) {
        List<Chain> chains = server.stream().filter(chain -> chain.first < j).toList();
        must(!hand.isDealt && outcome.equals(f.of("winner", "reason")), "C24", SERVER);
        must(f.n("next_index") == j && f.l("links").size() == chains.size(), "C30", SERVER);
        for (Chain chain : chains) {
            List<Object> pair = items(f.l("links").get(chains.indexOf(chain)));
            byte[] newest = (byte[]) pair.get(1);  long top = Math.min(j, chain.last);
            must(n(pair.get(0)) == chain.first && chain.fits(top, newest), "C30", SERVER);
            for (Hand each : hands) {
                if (each.isOpened || each.j < chain.first || each.j >= chain.last) continue;
                each.links.put(0L, link(spk, terms.b("tn"), newest, top, each.j + 1));
                recompute(each);
            }
        }
        must(same(boxKeyOf(f.b("xsec")), terms.b("x")), "C31", SERVER);
        phase = "ended";
    }
}
