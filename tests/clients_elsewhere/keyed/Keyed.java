// A player with a key by docs/protocol/keyed-client.md, the client guide and the test vectors, and nothing beyond: for
// any game, without its rules. It needs a JDK, 17 or later, and speaks in clear only.
//
// javac -d out keyed/*.java
// java -cp out keyed.Keyed truc://HOST:PORT/TABLE#FINGERPRINT [--keep FILE] [--out FILE] [--revocation FILE]
//
// Exit code 0: the match is over, and everything passes. 3: a check has failed; nothing was signed after it. 1: else.
// It leaves to a verifier what section 8 of that page leaves out, and of C31 the boxes of others: a server that offers
// what the rules forbid could have it blamed (C20). This file is the conversation; a match is checked in Match.java.

package keyed;

import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.*;
import java.util.stream.*;

import static keyed.Keys.*;
import static keyed.Records.*;
import static keyed.Values.*;
import static java.nio.charset.StandardCharsets.UTF_8;

public class Keyed {
    /** There is nothing to come back for. */
    static class Ended extends RuntimeException {
        final int code;

        Ended(int code, String why) {
            super(why);
            this.code = code;
        }
    }

    // What must not be forgotten: the master seed, the pins, and for each th what was drawn, signed and accepted.

    static Path keep = Path.of("keyed.msgpack"), out;
    static Map<String, Object> store;

    static void save() throws IOException {
        Path fresh = keep.resolveSibling(keep.getFileName() + ".new");
        var mode = PosixFilePermissions.fromString("rw-------");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(mode));
        try (var file = new FileOutputStream(fresh.toFile())) {
            file.write(enc(store));
            file.getFD().sync();
        }
        Files.move(fresh, keep, StandardCopyOption.ATOMIC_MOVE);
    }

    static Map<String, Object> of(Map<String, Object> in, String name) {
        return map(in.computeIfAbsent(name, absent -> new LinkedHashMap<String, Object>()));
    }

    // Section 5: the conversation.

    static String host, table, named, pinned;     // named: the fingerprint of the link; pinned: the first address
    static int port, mine;     // mine: the own seat
    static Map<String, Object> own;     // what is kept of this match
    static Match match;
    static List<Object> hand = list();     // the own cards of the newest deal, [card, salt] by slot
    static Set<Object> seen = new HashSet<>();     // every card dealt to us or turned up under this j
    static Set<String> revoked = new HashSet<>();
    static Map<String, Long> counters = new HashMap<>();
    static List<Raw> failing = List.of();
    static byte[] failingDoc = {};

    public static void main(String[] words) throws Exception { System.exit(play(words)); }

    public static int play(String[] words) throws Exception {
        URI link = null;
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals("--keep")) keep = Path.of(words[++i]);
            else if (words[i].equals("--out")) out = Path.of(words[++i]);
            else if (words[i].equals("--revocation")) revoke(Files.readAllLines(Path.of(words[++i])));
            else link = URI.create(words[i]);
        }
        host = link.getHost(); port = link.getPort() < 0 ? 7373 : link.getPort();
        table = link.getPath().replace("/", ""); named = link.getFragment();
        store = new LinkedHashMap<>(Map.of("master", random(32)));
        if (Files.exists(keep)) store = map(read(Files.readAllBytes(keep), 16));
        try {
            comeBack();
        } catch (Ended end) {
            (end.code == 0 ? System.out : System.err).println(end.getMessage());
            if (out != null && !failing.isEmpty()) writeTranscript();
            return end.code;
        }
        return 0;
    }

    // C40.
    static void revoke(List<String> lines) {
        byte[] body = HexFormat.of().parseHex(lines.get(1)), pk = (byte[]) canonical(body).get(1);
        boolean holds = same(body, enc(list("truc/1/revoke", pk))) && holds(pk, body, HexFormat.of().parseHex(lines.get(2)));
        must(lines.get(0).equals("truc revocation 1") && holds, "C40", NOBODY);
        revoked.add(hex(pk));
    }

    static void writeTranscript() throws IOException {
        try (var file = new DataOutputStream(Files.newOutputStream(out))) {
            file.writeBytes("truc transcript 1\n");
            List<byte[]> items = new ArrayList<>(List.of(failingDoc));
            failing.forEach(raw -> items.add(enc(list(raw.signer(), raw.body(), raw.sig()))));
            for (byte[] item : items) {
                file.writeInt(item.length);
                file.write(item);
            }
        }
    }

    static void comeBack() throws Exception {
        int failures = 0, doubts = 0;
        for (long at = -2;;) {
            long place = match == null ? -1 : match.k, pauseMs = 0;
            Visit visit = new Visit();
            try {
                visit.play();
            } catch (Failed failed) {
                if (failed.culprit != null && own != null) {
                    own.put("stopped", failed.getMessage());
                    save();
                }
                place = match == null ? -1 : match.k; doubts = place == at ? doubts + 1 : 1; at = place;
                if (failed.culprit != null || doubts == 3 || !visit.isOpen) throw new Ended(3, failed.getMessage());
            } catch (Goodbye bye) {
                pauseMs = bye.pauseMs;
            } catch (IOException | RuntimeException lost) {
                if (lost instanceof Ended) throw lost;
                if (failures > 12) throw new Ended(1, "no way to the server: " + lost);
            } finally {
                visit.close();
            }
            failures = visit.isOpen ? 1 : failures + 1;
            long usual = Math.min(1000L << failures - 1, 60_000);
            Thread.sleep(pauseMs > 0 ? pauseMs : usual / 2 + CHANCE.nextInt((int) usual / 2));
        }
    }

    static class Goodbye extends IOException {
        final long pauseMs;

        Goodbye(Map<String, Object> bye) {
            super(bye.get("code") + ": " + bye.get("msg"));
            Object after = bye.get("reconnect_after_ms"), to = bye.get("to");
            pauseMs = after == null ? 0 : n(after);
            if (to instanceof String address) {
                port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
                host = address.substring(0, address.lastIndexOf(':'));
            } else if (!same(bye.get("retryable"), true)) throw new Ended(1, getMessage());
        }
    }

    /** One connection. */
    static class Visit {
        final byte[] cn = random(32);
        final Map<Long, Map<String, Object>> asked = new HashMap<>();
        final Set<String> sent = new HashSet<>();
        Socket socket;
        DataInputStream in;
        byte[] hello, spk, pk, seed;
        long ids;
        int longest = 65536;
        boolean isOpen, isBehind;     // logged in; the records that are missing are not all there yet
        Map<String, Object> shown, terms;
        String name;

        void play() throws IOException {
            socket = new Socket(host, port);
            socket.setSoTimeout(10_000);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            hello = ask("hello", "proto", list(1), "cn", cn);
            for (;;) {
                int size;
                try {
                    size = in.readInt();
                } catch (SocketTimeoutException silence) {
                    if (!isOpen || isBehind || match == null) throw silence;
                    follow(match.mid);
                    continue;
                }
                if (size < 1 || size > longest) throw new IOException("no frame");
                byte[] payload = in.readNBytes(size);
                if (payload.length < size) throw new EOFException("the server hung up");
                take(map(read(payload, 16)), payload);
            }
        }

        void close() throws IOException { if (socket != null) socket.close(); }

        byte[] send(Map<String, Object> message) throws IOException {
            byte[] payload = enc(message);
            socket.getOutputStream().write(join(ByteBuffer.allocate(4).putInt(payload.length).array(), payload));
            return payload;
        }

        byte[] ask(String t, Object... fields) throws IOException {
            Map<String, Object> message = new LinkedHashMap<>(Map.of("t", t, "id", ids));
            for (int i = 0; i < fields.length; i += 2) message.put((String) fields[i], fields[i + 1]);
            message.values().removeIf(Objects::isNull);
            asked.put(ids++, message);
            return send(message);
        }

        void take(Map<String, Object> message, byte[] payload) throws IOException {
            String t = (String) message.get("t");
            if (t.equals("ping")) send(new LinkedHashMap<>(Map.of("t", "pong", "n", message.get("n"))));
            else if (t.equals("bye")) throw new Goodbye(message);
            else if (List.of("hello", "welcome", "ok", "error").contains(t)) {
                Map<String, Object> request = asked.remove(message.get("re"));
                if (request != null || t.equals("error")) answered(request, message, payload);
            } else if (table.equals(message.get("table"))) {
                switch (t) {
                    case "closed", "seat_taken_over" -> throw new Ended(1, "table " + table + ": " + t);
                    case "table" -> shown(message);
                    case "terms" -> agree(message);
                    case "setup" -> begin(message);
                    case "record" -> record(message);
                    case "options" -> options(message);
                    default -> { }
                }
            }
        }

        void answered(Map<String, Object> request, Map<String, Object> reply, byte[] payload) throws IOException {
            String t = request == null ? "" : (String) request.get("t");
            if (reply.get("t").equals("error")) refused(t, request, reply);
            else if (t.equals("hello")) logIn(reply, payload);
            else if (t.equals("login")) enter(reply);
            else if (t.equals("join")) mine = (int) n(reply.get("seat"));
            else if (t.equals("resume")) {
                must(match != null && match.k >= n(reply.get("k")), "C10", NOBODY);
                must(own.get("k") == null || match.k >= n(own.get("k")), "C33", NOBODY);
                isBehind = false;
                owe();
            }
        }

        void refused(String t, Map<String, Object> request, Map<String, Object> error) throws IOException {
            String code = (String) error.get("code");
            if (t.equals("act") && error.get("refuse") != null && match != null) refusedBySignature(request, error);
            else if (same(error.get("close"), true)) {
                boolean comesBack = error.get("retry_after_ms") != null || same(error.get("retryable"), true);
                if (!comesBack) throw new Ended(1, code + ": " + error.get("msg"));
            } else if (t.equals("resume") && code.equals("no_such_match")) ask("join", "table", table);
            else if (code.equals("bad_position")) throw new IOException(code);
            else if (code.equals("seat_gone") || !List.of("act", "ready", "").contains(t)) {
                throw new Ended(1, code + ": " + error.get("msg"));
            }
        }

        // C35: of an act that was offered it convicts the server, unless it only came late.
        void refusedBySignature(Map<String, Object> request, Map<String, Object> error) throws IOException {
            Raw raw = Raw.of(error.get("refuse"));
            byte[] body = (byte[]) request.get("body");
            List<Object> v = canonical(raw.body()), said = list("truc/1/refuse", match.mid, sha256(body), v.get(3));
            must(same(raw.body(), enc(said)) && holds(match.spk, raw.body(), raw.sig()), "a refusal", NOBODY);
            items(own.computeIfAbsent("refusals", absent -> list())).add(list(raw.body(), raw.sig()));
            save();
            boolean isLate = List.of("stale_position", "void_bet").contains(v.get(3));
            must(isLate || !canonical(body).get(0).equals("truc/1/act"), "C35", SERVER);
        }

        // C37, C39.
        void logIn(Map<String, Object> reply, byte[] payload) throws IOException {
            List<Object> v = canonical((byte[]) reply.get("body"));
            byte[] info = (byte[]) reply.get("info");
            spk = (byte[]) v.get(1);
            must(v.size() == 7 && isAdmissible(spk), "C37", NOBODY);
            must(holds(spk, (byte[]) reply.get("body"), (byte[]) reply.get("sig")), "C37", NOBODY);
            List<Object> expected = list("truc/1/hello", spk, v.get(2), sha256(hello), 1L, null, sha256(info));
            must(same(reply.get("body"), enc(expected)), "C37", NOBODY);
            List<Object> pin = pin(reply.get("rolls") == null ? list() : items(reply.get("rolls")));
            of(store, "pins").put(pinned == null ? pinned = host + ":" + port : pinned, pin);
            save();
            longest = (int) n(map(map(read(info, 16)).get("limits")).get("frame_out"));
            socket.setSoTimeout(1000 * (int) n(map(map(read(info, 16)).get("limits")).get("idle_s")));
            seed = hkdf((byte[]) store.get("master"), new byte[32], "truc/1/player", pin.get(0));
            pk = publicOf(seed);
            byte[] body = enc(list("truc/1/auth", spk, pk, cn, v.get(2), sha256(payload)));
            ask("login", "body", body, "sig", sign(seed, body), "name", "keyed");
        }

        List<Object> pin(List<Object> rolls) {
            Object known = of(store, "pins").get(pinned == null ? host + ":" + port : pinned);
            List<Object> pin = known == null ? list(spk, spk, 0L) : list(items(known).toArray());
            must(!revoked.contains(hex(spk)), "C40", NOBODY);
            must(known != null || named == null || named.equals(fingerprint(spk)), "C37", NOBODY);
            if (known != null && same(pin.get(1), spk)) return pin;
            Object present = known == null ? null : pin.get(1), serial = null;     // of the rotation before
            for (Object roll : rolls) {
                byte[] body = (byte[]) items(roll).get(0);
                List<Object> v = canonical(body);
                byte[] old = (byte[]) v.get(1), fresh = (byte[]) v.get(2);
                if (known != null && serial == null && !same(old, present)) continue;
                boolean isNext = serial == null ? n(v.get(3)) > n(pin.get(2)) : n(v.get(3)) == n(serial) + 1;
                boolean isDue = n(v.get(4)) <= System.currentTimeMillis() / 1000 && v.get(0).equals("truc/1/roll");
                must(isNext && isDue && (present == null || same(old, present)), "C39", NOBODY);
                must(known == null || !revoked.contains(hex(old)) && !revoked.contains(hex(fresh)), "C40", NOBODY);
                must(isAdmissible(old) && holds(old, body, (byte[]) items(roll).get(1)), "C39", NOBODY);
                must(isAdmissible(fresh) && holds(fresh, body, (byte[]) items(roll).get(2)), "C39", NOBODY);
                present = fresh;
                serial = v.get(3);
            }
            must(rolls.isEmpty() ? known == null : same(present, spk), rolls.isEmpty() ? "C37" : "C39", NOBODY);
            return list(pin.get(0), spk, serial == null ? 0L : serial);
        }

        void enter(Map<String, Object> welcome) throws IOException {
            name = (String) welcome.get("name"); isOpen = true;
            Object held = welcome.get("seats") == null ? null : items(welcome.get("seats")).stream()
                .filter(seat -> table.equals(map(seat).get("table"))).findFirst().orElse(null);
            byte[] mid = match != null ? match.mid : held == null ? null : (byte[]) map(held).get("match");
            if (held != null) mine = (int) n(map(held).get("seat"));
            if (mid != null) follow(mid);
            else ask("join", "table", table);
        }

        void follow(byte[] mid) throws IOException {
            if (isBehind) return;
            isBehind = true;
            ask("resume", "table", table, "match", mid, "next", match == null ? -1 : match.k);
        }

        // Ready at a table that was shown; then its terms are compared with what was shown.
        void shown(Map<String, Object> state) throws IOException {
            boolean isFree = List.of("open", "over").contains(state.get("state")) && match == null;
            boolean isReady = same(map(items(state.get("seats")).get(mine)).get("ready"), true);
            if (shown == null || isFree) shown = state;
            if (isFree && !isReady) {
                boolean isAsking = asked.values().stream().anyMatch(request -> request.get("t").equals("ready"));
                if (!isAsking) ask("ready", "table", table);
            } else if (state.get("state").equals("playing") && match == null && own == null) {
                follow((byte[]) state.get("match"));
            }
            if (terms != null && own == null) agree(terms);
        }

        // C9, before anything is signed.
        void agree(Map<String, Object> message) throws IOException {
            terms = message;
            if (shown == null) return;
            Raw raw = Raw.of(message.get("record"));
            fail((byte[]) message.get("doc"), List.of(raw));
            Fields f = readTerms(failingDoc, raw, spk);  String th = hex(sha256(raw.body()));
            for (var other : of(store, "tables").entrySet()) {
                must(other.getKey().equals(th) || !same(map(other.getValue()).get("tn"), f.b("tn")), "C9", SERVER);
            }
            boolean isShown = same(shown.get("rules"), f.b("rules")) && n(shown.get("n")) == f.n("seats") &&
                shown.get("policy").equals(f.t("policy"));
            must(isShown && same(optsOf(items(shown.get("opts"))), optsOf(f.l("opts"))), "C9", NOBODY);
            long seat = mine;
            own = of(of(store, "tables"), th);
            mayGoOn();
            own.put("tn", f.b("tn"));
            own.put("seat", seat);
            Map<String, Object> chain = chains().isEmpty() ? freshChain(f, 0) : map(chains().get(0));
            hand("seat", list("truc/1/seat", sha256(raw.body()), seat, pk, chain.get("anchor"), chain.get("x"),
                name.getBytes(UTF_8)));
        }

        void mayGoOn() {
            if (own.containsKey("stopped")) throw new Ended(3, "stopped for good: " + own.get("stopped"));
        }

        List<Object> chains() { return items(own.computeIfAbsent("chains", absent -> list())); }

        Map<String, Object> freshChain(Fields table, long first) {
            byte[] root = random(32), secret = random(32);
            Map<String, Object> chain = new LinkedHashMap<>(Map.of("first", first, "root", root, "secret", secret));
            chain.put("anchor", link(pk, table.b("tn"), root, first + table.n("links"), first));
            chain.put("x", boxKeyOf(secret));
            chains().add(chain);
            return chain;
        }

        void fail(byte[] doc, List<Raw> records) { failingDoc = doc; failing = records; }

        void begin(Map<String, Object> message) throws IOException {
            if (match != null && same(match.mid, message.get("match"))) return;
            List<Raw> records = items(message.get("records")).stream().map(Raw::of).toList();
            fail((byte[]) message.get("doc"), records);
            String th = hex(sha256(records.get(0).body()));
            if (!of(store, "tables").containsKey(th)) throw new Ended(1, "the secrets of this match are not here");
            own = of(of(store, "tables"), th);
            mayGoOn();
            Match begun = new Match(failingDoc, records, spk);
            Raw mine = records.get(1 + (int) n(own.get("seat")));
            must(same(mine.body(), items(of(own, "signed").get("seat")).get(0)), "C9", SERVER);
            must(own.get("mid") == null || same(own.get("mid"), begun.mid), "C36", SERVER);
            own.put("mid", begun.mid);
            save();
            match = begun;
            fail(match.doc, match.records);
        }

        long role() { return n(own.get("seat")) + 1; }

        void record(Map<String, Object> message) throws IOException {
            Raw raw = new Raw(n(message.get("signer")), (byte[]) message.get("body"), (byte[]) message.get("sig"));
            if (match == null || !same(match.mid, message.get("match")) || n(message.get("k")) > match.k) {
                isBehind &= match != null;
                follow((byte[]) message.get("match"));
                return;
            }
            int at = match.records.size() - (int) (match.k - n(message.get("k")));
            fail(match.doc, Stream.concat(match.records.subList(0, at).stream(), Stream.of(raw)).toList());
            if (at < match.records.size()) {
                Raw known = match.records.get(at);
                boolean isSame = known.signer() == raw.signer() && same(known.body(), raw.body()) && same(known.sig(), raw.sig());
                must(isSame, raw.signer() == 0 ? "C33" : "C34", isContradiction(raw) ? (Long) raw.signer() : NOBODY);
                return;
            }
            try {
                match.take(raw);
            } catch (Failed failed) {
                boolean isSecond = failed.culprit == null && isContradiction(raw);
                throw isSecond ? new Failed(raw.signer() == 0 ? "C33" : "C34", raw.signer()) : failed;
            }
            fail(match.doc, match.records);
            List<Object> v = canonical(raw.body());
            String kind = v.get(0).toString().replace("truc/1/", "");
            boolean isOwn = of(own, "signed").values().stream().anyMatch(one -> same(items(one).get(0), raw.body()));
            if (raw.signer() == 0 && raw.sig().length > 0) behindRefused();
            if (raw.signer() == role() && !isOwn) throw new Ended(1, "the seat is played from elsewhere");
            if (same(own.get("k"), match.k) && !same(own.get("head"), match.head)) {
                match = null;     // of this history nothing is kept: it is asked for anew
                throw new Failed("C33", NOBODY);
            }
            if (kind.equals("deal") || kind.equals("share")) openDeal(Fields.read(v, kind), kind.equals("share"));
            if (kind.equals("close")) accept(match.k, match.head);
            if (!isBehind) owe();
        }

        /** Whether its signer has signed it, and another body for the same k, or another release of the same j, before. */
        boolean isContradiction(Raw raw) {
            if (raw.signer() > match.seats.size()) return false;
            byte[] key = raw.signer() == 0 ? match.spk : match.seat(raw.signer() - 1).pk;
            if (key == null || !holds(key, raw.body(), raw.sig())) return false;
            return match.records.stream().anyMatch(known -> known.signer() == raw.signer() && known.sig().length > 0 &&
                !same(known.body(), raw.body()) && !place(raw).isEmpty() && place(raw).equals(place(known)));
        }

        /** Where one signer may sign one body alone; empty where it may sign several. */
        String place(Raw raw) {
            List<Object> v = canonical(raw.body());
            if (v.size() < 5 || !same(v.get(1), match.mid)) return "";
            return switch ((String) v.get(0)) {
                case "truc/1/release" -> "j " + v.get(4);
                case "truc/1/act", "truc/1/resign" -> "k " + v.get(2);
                default -> raw.signer() == 0 ? "k " + v.get(2) : "";
            };
        }

        // C35: it has said by its signature that it did not take what now stands before a record of its own.
        void behindRefused() {
            List<byte[]> before = match.records.subList(0, match.records.size() - 1).stream().map(Raw::body)
                .map(Keys::sha256).toList();
            for (Object refusal : items(own.getOrDefault("refusals", list()))) {
                Object refused = canonical((byte[]) items(refusal).get(0)).get(2);
                must(before.stream().noneMatch(hash -> same(hash, refused)), "C35", SERVER);
            }
        }

        void accept(long k, byte[] head) throws IOException {
            if (own.get("k") == null || n(own.get("k")) <= k) {
                own.put("k", k);
                own.put("head", head);
            }
            save();
        }

        Map<String, Object> chain() {
            byte[] x = match.seat(role() - 1).x;
            return chains().stream().map(Values::map).filter(chain -> same(chain.get("x"), x)).findFirst().orElseThrow();
        }

        byte[] key(Object... info) {
            return hkdf(exchange((byte[]) chain().get("secret"), match.terms.b("x")), match.mid, info);
        }

        // C18.
        void openDeal(Fields f, boolean isShare) {
            long seat = isShare ? f.n("giver") : role() - 1, j = match.j, d = f.n("d");
            byte[] box = isShare ? f.b("box") : (byte[]) f.l("boxes").get((int) seat);
            if (isShare ? f.n("receiver") != role() - 1 : box.length == 0) return;
            byte[] key = isShare ? key("truc/1/sharebox", j, d, seat, role() - 1) : key("truc/1/box", j, d, seat);
            byte[] plain = open(key, new byte[12], box, new byte[0]);
            must(plain != null, "C18", SERVER);
            List<Object> cards;
            try {
                cards = canonical(plain);
            } catch (Failed broken) {
                throw new Failed("C18", SERVER);
            }
            List<Object> leaves = items(match.hand.deals.get((int) d).l("leaves").get((int) seat));
            must(cards.size() == leaves.size(), "C18", SERVER);
            if (d == 0 && !isShare) seen = new HashSet<>(f.l("up"));
            for (int slot = 0; slot < cards.size(); slot++) {
                List<Object> one = items(cards.get(slot));
                byte[] leaf = H("leaf", match.mid, j, d, seat, slot, one.get(0), one.get(1));
                must(n(one.get(0)) < match.pack.size() && same(leaf, leaves.get(slot)), "C18", SERVER);
                must(isShare || seen.add(one.get(0)), "C18", SERVER);
            }
            if (!isShare) hand = cards;
        }

        /** Whether less is there than was accepted before a restart: a server may show another history, asked for or not. */
        boolean isBelow() { return own.get("k") != null && match.k < n(own.get("k")); }

        /** What nobody has to ask for. */
        void owe() throws IOException {
            if (isBelow()) return;
            long seat = role() - 1;
            if (match.acked.contains(seat)) throw new Ended(0, "ended, winner and reason: " + match.outcome);
            if (match.phase.equals("called") && match.missing().contains(seat)) {
                Map<String, Object> chain = chain();
                long top = n(chain.get("first")) + match.terms.n("links");
                byte[] link = link(pk, match.terms.b("tn"), (byte[]) chain.get("root"), top, match.j + 1);
                List<Object> body = list("truc/1/release", match.mid, match.k0, match.head0, match.j, seat, link);
                hand("release " + match.j, body);
            } else if (match.phase.equals("ended")) {
                hand("ack", list("truc/1/ack", match.mid, match.k0, match.head0, seat));
            } else if (match.phase.equals("between") && match.j >= match.chainOf(role()).last && !match.isPaused) {
                Map<String, Object> last = map(chains().get(chains().size() - 1));
                boolean isFree = !match.used.contains(hex(last.get("anchor"))) && !match.used.contains(hex(last.get("x")));
                boolean isNamed = n(last.get("first")) == match.j && isFree;
                Map<String, Object> chain = isNamed ? last : freshChain(match.terms, match.j);
                hand("act " + match.k, list("truc/1/rekey", match.mid, match.k, match.head, role(), match.j,
                    chain.get("anchor"), chain.get("x")));
            }
        }

        /** Sign, store and send; for a place that is taken the stored bytes, once on a connection. */
        void hand(String place, List<Object> body) throws IOException {
            if (!of(own, "signed").containsKey(place)) {
                of(own, "signed").put(place, list(enc(body), sign(seed, enc(body))));
                if (match == null) save();
                else accept((Long) body.get(2), (byte[]) body.get(3));
            }
            List<Object> stored = items(of(own, "signed").get(place));
            must(!place.startsWith("release") || same(stored.get(0), enc(body)), "C15", SERVER);
            if (!sent.add(place)) return;
            byte[] mid = match == null ? null : match.mid;
            ask("act", "table", table, "match", mid, "body", stored.get(0), "sig", stored.get(1));
        }

        void options(Map<String, Object> message) throws IOException {
            if (match == null || isBehind || isBelow() || n(message.get("at")) != match.k) return;
            long seat = role() - 1;  byte[] box = (byte[]) message.get("box");
            must(box != null && box.length > 8, "a box of options", NOBODY);
            ByteBuffer counter = ByteBuffer.wrap(box, 0, 8);
            byte[] nonce = join(new byte[4], Arrays.copyOf(box, 8)), associated =
                enc(list("truc/1/options", match.mid, seat, match.k, message.get("offer")));
            byte[] sealed = Arrays.copyOfRange(box, 8, box.length);
            byte[] padded = open(key("truc/1/private", seat), nonce, sealed, associated);
            String x = hex(chain().get("x"));  long number = counter.getLong();
            must(padded != null && number > counters.getOrDefault(x, -1L), "a box of options", NOBODY);
            counters.put(x, number);
            int end = padded.length;
            while (end > 0 && padded[end - 1] == 0) end--;
            must(end > 0 && padded[end - 1] == (byte) 0x80, "the padding of options", NOBODY);
            List<Object> options = canonical(Arrays.copyOf(padded, end - 1));
            options.forEach(option -> must(isSaid(items(option)), "an option", NOBODY));
            boolean isAwaited = options.stream().flatMap(option -> items(items(option).get(3)).stream())
                .anyMatch(hint -> items(hint).get(0).equals("waits"));
            if (options.isEmpty() || !isAwaited && !same(message.get("must"), true)) return;
            options.sort(Comparator.comparing(option -> worth(items(option))));
            List<Object> choice = items(options.get(0));
            hand("act " + match.k, list("truc/1/act", match.mid, match.k, match.head, match.j, seat, choice.get(0),
                choice.get(1)));
        }

        // Cards first, and giving up last.
        int worth(List<Object> option) {
            int at = List.of("play", "cover", "blind", "accept").indexOf(option.get(0));
            return at >= 0 ? at : option.get(0).equals("concede") ? 5 : 4;
        }

        /** Whether an option is what its line says, and opens but the own cards. */
        boolean isSaid(List<Object> option) {
            String kind = (String) option.get(0);
            List<Object> args = items(option.get(1));
            List<Object> openings = kind.equals("show") ? items(args.get(0)) : list();
            if (kind.equals("play")) openings.add(args);
            for (Object one : openings) {
                List<Object> held = items(hand.get((int) n(items(one).get(0))));
                if (!same(held.get(0), items(one).get(1)) || !same(held.get(1), items(one).get(2))) return false;
            }
            String ask = kind.equals("play") && args.get(3) != null ? " raise " + args.get(3) : "";
            Stream<Object> shown = kind.equals("cover") && !hand.isEmpty() ? Stream.of(hand.get((int) n(args.get(0))))
                .map(held -> items(held).get(0)) : openings.stream().map(one -> items(one).get(1));
            boolean isOfCards = List.of("play", "show", "cover").contains(kind);
            Stream<Object> said = isOfCards ? shown.map(card -> match.pack.get((int) n(card))) : args.stream();
            if (kind.equals("cut")) said = Stream.of();
            String line = Stream.concat(Stream.of(kind), said.map(Object::toString)).collect(Collectors.joining(" "));
            return same(option.get(2), line + ask);
        }
    }
}
