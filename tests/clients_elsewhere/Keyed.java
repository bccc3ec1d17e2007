// A player with a key by docs/protocol/keyed-client.md, the client guide and the test vectors, and nothing beyond: for
// any game, without its rules. It needs a JDK, 17 or later, and speaks in clear only.
//
// java Keyed.java truc://HOST:PORT/TABLE#FINGERPRINT [--keep FILE] [--out FILE] [--revocation FILE]
//
// Exit code 0: the match is over, and everything passes. 3: a check has failed; nothing was signed after it. 1: else.
// It leaves to a verifier what section 8 of that page leaves out, and of C31 the boxes of others.

import java.io.*;
import java.math.BigInteger;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.security.*;
import java.security.spec.*;
import java.util.*;
import java.util.stream.*;
import javax.crypto.*;
import javax.crypto.spec.*;

import static java.nio.charset.StandardCharsets.UTF_8;

public class Keyed {
    /** A check has failed; `culprit` is a role, or null where nobody is shown to blame. */
    static class Failed extends RuntimeException {
        final Long culprit;

        Failed(String check, Long culprit) {
            super(check + (culprit == null ? " fails, nobody is shown to blame" : " fails, to blame: " +
                (culprit == 0 ? "server" : "seat " + (culprit - 1))));
            this.culprit = culprit;
        }
    }

    /** There is nothing to come back for. */
    static class Ended extends RuntimeException {
        final int code;

        Ended(int code, String why) {
            super(why);
            this.code = code;
        }
    }

    static final Long SERVER = 0L, NOBODY = null;  static final SecureRandom CHANCE = new SecureRandom();

    static void must(boolean holds, String check, Long culprit) { if (!holds) throw new Failed(check, culprit); }

    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        CHANCE.nextBytes(bytes);
        return bytes;
    }

    static byte[] join(byte[]... parts) {
        var whole = new ByteArrayOutputStream();
        for (byte[] part : parts) whole.writeBytes(part);
        return whole.toByteArray();
    }

    static String hex(Object bytes) { return HexFormat.of().formatHex((byte[]) bytes); }
    static boolean same(Object a, Object b) { return Objects.deepEquals(a, b); }
    static long n(Object value) { return (Long) value; }
    static List<Object> list(Object... values) { return new ArrayList<>(Arrays.asList(values)); }
    @SuppressWarnings("unchecked")
    static List<Object> items(Object value) { return (List<Object>) value; }
    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) { return (Map<String, Object>) value; }

    // Section 1: msgpack, of which enc() makes the canonical kind.

    static byte[] enc(Object value) {
        var out = new ByteArrayOutputStream();
        write(out, value);
        return out.toByteArray();
    }

    static void head(ByteArrayOutputStream out, long size, int fix, int most, int... tags) {
        int power = size <= most ? -1 : tags[0] != 0 && size < 256 ? 0 : size < 65536 ? 1 : size < 1L << 32 ? 2 : 3;
        out.write(power < 0 ? fix | (int) size : tags[power]);
        for (int i = (power < 0 ? 0 : 1 << power) - 1; i >= 0; i--) out.write((int) (size >> 8 * i));
    }

    static void write(ByteArrayOutputStream out, Object value) {
        if (value == null) out.write(0xc0);
        else if (value instanceof Boolean is) out.write(is ? 0xc3 : 0xc2);
        else if (value instanceof Number whole) head(out, whole.longValue(), 0, 127, 0xcc, 0xcd, 0xce, 0xcf);
        else if (value instanceof String text) {
            head(out, text.getBytes(UTF_8).length, 0xa0, 31, 0xd9, 0xda, 0xdb);
            out.writeBytes(text.getBytes(UTF_8));
        } else if (value instanceof byte[] bytes) {
            head(out, bytes.length, 0, -1, 0xc4, 0xc5, 0xc6);
            out.writeBytes(bytes);
        } else if (value instanceof List<?> list) {
            head(out, list.size(), 0x90, 15, 0, 0xdc, 0xdd);
            list.forEach(item -> write(out, item));
        } else {
            head(out, map(value).size(), 0x80, 15, 0, 0xde, 0xdf);
            map(value).forEach((name, item) -> list(name, item).forEach(each -> write(out, each)));
        }
    }

    /** A RuntimeException comes of what is no msgpack of the types of the wire. */
    static Object read(byte[] bytes, int depth) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        Object value = read(in, depth);
        if (in.hasRemaining()) throw new IllegalArgumentException("something behind the value");
        return value;
    }

    static Object read(ByteBuffer in, int depth) {
        int tag = in.get() & 0xff;
        if (tag < 0x80) return (long) tag;
        if (tag < 0xa0) return collection(in, tag & 15, depth, tag < 0x90);
        if (tag < 0xc0) return new String(bytes(in, tag & 31), UTF_8);
        return switch (tag) {
            case 0xc0 -> null;
            case 0xc2, 0xc3 -> tag == 0xc3;
            case 0xc4, 0xc5, 0xc6 -> bytes(in, unsigned(in, tag - 0xc4));
            case 0xcc, 0xcd, 0xce, 0xcf -> unsigned(in, tag - 0xcc);
            case 0xd9, 0xda, 0xdb -> new String(bytes(in, unsigned(in, tag - 0xd9)), UTF_8);
            case 0xdc, 0xdd, 0xde, 0xdf -> collection(in, unsigned(in, 1 + tag % 2), depth, tag > 0xdd);
            default -> throw new IllegalArgumentException("another type");
        };
    }

    static long unsigned(ByteBuffer in, int power) {
        BigInteger value = new BigInteger(1, bytes(in, 1 << power));
        if (value.bitLength() > 53) throw new IllegalArgumentException("too great");
        return value.longValue();
    }

    static byte[] bytes(ByteBuffer in, long size) {
        if (size > in.remaining()) throw new IllegalArgumentException("too long");
        byte[] bytes = new byte[(int) size];
        in.get(bytes);
        return bytes;
    }

    static Object collection(ByteBuffer in, long size, int depth, boolean isMap) {
        if (depth == 0) throw new IllegalArgumentException("too deep");
        List<Object> list = list();
        Map<String, Object> map = new LinkedHashMap<>();
        for (long i = 0; i < size; i++) {
            if (isMap) map.put((String) read(in, depth - 1), read(in, depth - 1));
            else list.add(read(in, depth - 1));
        }
        return isMap ? map : list;
    }

    /** The array in a body (C1). */
    static List<Object> canonical(byte[] body) {
        try {
            Object value = body.length > 65536 ? null : read(body, 6);
            if (value instanceof List<?> list && isPlain(list) && same(enc(list), body)) return items(list);
        } catch (RuntimeException broken) { /* no encoding at all */ }
        throw new Failed("C1", NOBODY);
    }

    static boolean isPlain(Object value) {
        if (value instanceof String text) return text.length() < 256 && text.chars().allMatch(c -> c >= 32 && c < 127);
        return value instanceof List<?> list ? list.stream().allMatch(Keyed::isPlain) : !(value instanceof Map);
    }

    // Keys and boxes, from the JDK. It wants keys as DER: a few bytes, then the 32 of the key.

    interface Made<T> {
        T make() throws GeneralSecurityException;
    }

    /** What the JDK makes, or null where it refuses. */
    static <T> T made(Made<T> made) {
        try {
            return made.make();
        } catch (GeneralSecurityException refused) {
            return null;
        }
    }

    static byte[] sha256(byte[] bytes) { return made(() -> MessageDigest.getInstance("SHA-256").digest(bytes)); }

    static byte[] H(String tag, Object... values) {
        return sha256(enc(Stream.concat(Stream.of("truc/1/" + tag), Stream.of(values)).toList()));
    }

    static final String ED25519 = "70", X25519 = "6e";
    static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19)), ONE = BigInteger.ONE;
    static final BigInteger L = BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    static final BigInteger D = BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
    static final BigInteger ROOT = BigInteger.TWO.modPow(P.shiftRight(2), P);     // of -1

    static byte[] der(String form, byte[] raw) { return join(HexFormat.of().parseHex(form), raw); }

    static PublicKey publicKey(String kind, byte[] raw) throws GeneralSecurityException {
        var spec = new X509EncodedKeySpec(der("302a300506032b65" + kind + "032100", raw));
        return KeyFactory.getInstance(kind.equals(ED25519) ? "Ed25519" : "X25519").generatePublic(spec);
    }

    static PrivateKey privateKey(String kind, byte[] raw) throws GeneralSecurityException {
        var spec = new PKCS8EncodedKeySpec(der("302e020100300506032b65" + kind + "04220420", raw));
        return KeyFactory.getInstance(kind.equals(ED25519) ? "Ed25519" : "X25519").generatePrivate(spec);
    }

    /** The Ed25519 key of a seed: a generator makes it that finds just this seed in its chance. */
    static byte[] publicOf(byte[] seed) {
        var chance = new SecureRandom() {
            @Override
            public void nextBytes(byte[] bytes) { System.arraycopy(seed, 0, bytes, 0, bytes.length); }
        };
        return made(() -> {
            var generator = KeyPairGenerator.getInstance("Ed25519");
            generator.initialize(NamedParameterSpec.ED25519, chance);
            byte[] der = generator.generateKeyPair().getPublic().getEncoded();
            return Arrays.copyOfRange(der, der.length - 32, der.length);
        });
    }

    static byte[] sign(byte[] seed, byte[] body) {
        return made(() -> {
            var signature = Signature.getInstance("Ed25519");
            signature.initSign(privateKey(ED25519, seed));
            signature.update(body);
            return signature.sign();
        });
    }

    static boolean holds(byte[] key, byte[] body, byte[] sig) {
        return sig.length == 64 && same(true, made(() -> {
            var signature = Signature.getInstance("Ed25519");
            signature.initVerify(publicKey(ED25519, key));
            signature.update(body);
            return signature.verify(sig);
        }));
    }

    static BigInteger little(byte[] bytes) {
        byte[] turned = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) turned[i] = bytes[bytes.length - 1 - i];
        return new BigInteger(1, turned);
    }

    // The sum of two points (x, y) of the curve.
    static BigInteger[] add(BigInteger[] a, BigInteger[] b) {
        BigInteger t = D.multiply(a[0]).multiply(b[0]).multiply(a[1]).multiply(b[1]).mod(P);
        BigInteger x = a[0].multiply(b[1]).add(a[1].multiply(b[0])), y = a[1].multiply(b[1]).add(a[0].multiply(b[0]));
        x = x.multiply(ONE.add(t).modInverse(P)).mod(P);
        return new BigInteger[] {x, y.multiply(ONE.subtract(t).modInverse(P)).mod(P)};
    }

    /** C4: a point of the subgroup of prime order, canonically encoded, not the identity. */
    static boolean isAdmissible(byte[] key) {
        BigInteger y = little(key).clearBit(255), square = y.multiply(y);
        if (key.length != 32 || y.compareTo(P) >= 0) return false;
        BigInteger x2 = square.subtract(ONE).multiply(D.multiply(square).add(ONE).modInverse(P)).mod(P);
        BigInteger x = x2.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!x.multiply(x).mod(P).equals(x2)) x = x.multiply(ROOT).mod(P);
        if (x.signum() == 0 || !x.multiply(x).mod(P).equals(x2)) return false;
        BigInteger[] sum = {BigInteger.ZERO, ONE}, point = {x.testBit(0) == key[31] < 0 ? x : P.subtract(x), y};
        for (int i = L.bitLength() - 1; i >= 0; i--) {
            sum = add(sum, sum);
            if (L.testBit(i)) sum = add(sum, point);
        }
        return sum[0].signum() == 0 && sum[1].equals(ONE);
    }

    /** Null where it gives nothing. */
    static byte[] exchange(byte[] secret, byte[] x) {
        return made(() -> {
            var agreement = KeyAgreement.getInstance("X25519");
            agreement.init(privateKey(X25519, secret));
            agreement.doPhase(publicKey(X25519, x), true);
            return agreement.generateSecret();
        });
    }

    static byte[] boxKeyOf(byte[] secret) { return exchange(secret, join(new byte[] {9}, new byte[31])); }

    static byte[] mac(byte[] key, byte[] text) {
        return made(() -> {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text);
        });
    }

    static byte[] hkdf(byte[] input, byte[] salt, Object... info) {
        return mac(mac(salt, input), join(enc(list(info)), new byte[] {1}));
    }

    /** What is in a box, or null. */
    static byte[] open(byte[] key, byte[] nonce, byte[] box, byte[] associated) {
        return made(() -> {
            var cipher = Cipher.getInstance("ChaCha20-Poly1305");
            cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "ChaCha20"), new IvParameterSpec(nonce));
            cipher.updateAAD(associated);
            return cipher.doFinal(box);
        });
    }

    static String fingerprint(byte[] spk) {
        BigInteger bits = new BigInteger(1, H("fp", spk));
        return IntStream.range(0, 26).map(i -> bits.shiftRight(251 - 5 * i).intValue() & 31)
            .mapToObj(i -> "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".substring(i, i + 1)).collect(Collectors.joining());
    }

    // Sections 3 and 6: chains, and the order of the pack.

    static byte[] link(byte[] pk, byte[] tn, byte[] v, long top, long i) {
        for (long at = top; at > i; at--) v = H("chain", pk, tn, at, v);
        return v;
    }

    /** What is known of one contributor's chain: its newest link, and which that is. */
    static class Chain {
        final byte[] pk, tn;
        final long first, last;
        byte[] newest;
        long at;

        Chain(byte[] pk, byte[] tn, long first, long links, byte[] anchor) {
            this.pk = pk; this.tn = tn; this.first = at = first; last = first + links; newest = anchor;
        }

        boolean fits(long i, byte[] link) { return i >= at && i <= last && same(link(pk, tn, link, i, at), newest); }
    }

    static class Bytes {
        final byte[] seed;
        byte[] block = {};
        int blocks, at;

        Bytes(byte[] seed) { this.seed = seed; }

        int below(int m) {
            for (;;) {
                if (at % 32 == 0) block = H("deck", seed, blocks++);
                int value = block[at++ % 32] & 0xff;
                if (value < 256 - 256 % m) return value % m;
            }
        }
    }

    static List<Integer> order(byte[] seed, int deck, int cut) {
        List<Integer> cards = IntStream.range(0, deck).boxed().collect(Collectors.toList());
        Bytes source = new Bytes(seed);
        for (int i = deck - 1; i > 0; i--) Collections.swap(cards, i, source.below(i + 1));
        Collections.rotate(cards, -cut);
        return cards;
    }

    record Raw(long signer, byte[] body, byte[] sig) {
        static Raw of(Object item) {
            return new Raw(n(items(item).get(0)), (byte[]) items(item).get(1), (byte[]) items(item).get(2));
        }
    }

    // The kinds of records: phases, fields. u integer, h 32 bytes, b bytes, t text, a array, ? or nil.
    static final Map<String, String[]> KINDS = """
        table;;spk h,tn h,rules h,deck u,seats u,links u,policy t,mode t,anchor h,x h,opts a,name b,time u
        seat;;th h,seat u,pk h,anchor h,x h,name b
        guest;;th h,seat u,x h?,name b
        match;;th h,seats a
        call;between;j u,dealer u,ncards u,cut u,roles a
        release;called;j u,seat u,link h
        draw;called;j u,link h,first u
        deal;called hand;j u,d u,dealer u,ncards u,cut u,up a,leaves a,boxes a
        act;between hand;j u,seat u,kind t,args a
        proxy;between hand;j u,seat u,kind t,args a
        open;hand;j u,d u,seat u,openings a
        share;hand;j u,d u,giver u,receiver u,box b
        rule;between hand;j u,ruling t,seat u?,kind t?,args a
        close;hand over;j u,link h?,score a,reason t
        void;called;j u,reason t,seats a,link h?
        rekey;between;role u,first u,anchor h,x h?
        sub;between;first u,seat u,pk h,anchor h,x h,name b
        resign;between hand;seat u
        end;over;next_index u,links a,xsec h,score a,winner u?,reason t
        ack;ended;seat u""".lines().map(row -> row.split(";")).collect(Collectors.toMap(row -> row[0], row -> row));

    /** The fields of a body by name. */
    record Fields(Map<String, Object> all) {
        Object get(String name) { return all.get(name); }
        long n(String name) { return (Long) all.get(name); }
        byte[] b(String name) { return (byte[]) all.get(name); }
        String t(String name) { return (String) all.get(name); }
        List<Object> l(String name) { return items(all.get(name)); }
        List<Object> of(String... names) { return list(Stream.of(names).map(all::get).toArray()); }

        /** C2: what has another shape is a ClassCastException. */
        static Fields read(List<Object> v, String kind) {
            String[] row = KINDS.get(kind), names = ((row[1].isEmpty() ? "" : "mid h,k u,head h,") + row[2]).split(",");
            Map<String, Object> all = new HashMap<>();
            for (int i = 0; i < names.length && v.size() == names.length + 1; i++) {
                String[] field = names[i].split(" ");  Object value = v.get(i + 1);
                boolean fits = value == null ? field[1].endsWith("?") : switch (field[1].charAt(0)) {
                    case 'u' -> value instanceof Long;
                    case 't' -> value instanceof String;
                    case 'a' -> value instanceof List;
                    default -> value instanceof byte[] bytes && (bytes.length == 32 || field[1].charAt(0) == 'b');
                };
                if (fits) all.put(field[0], value);
            }
            if (all.size() < names.length) throw new ClassCastException("another shape");
            return new Fields(all);
        }
    }

    static class Seat {
        byte[] pk, x;
        Chain chain;
        long rekeys, ruled;     // new chains before the old one was exhausted; moves ruled in a row
    }

    /** A hand: what its call fixed, its deals, and which (d, seat, slot) are open or covered. */
    static class Hand {
        long dealer, ncards, cut, j;
        boolean isAsked, isRedealt, isDealt, isOpened;     // a redeal asked for, granted; cards dealt, all known
        TreeMap<Long, byte[]> links = new TreeMap<>();
        List<Fields> deals = new ArrayList<>();
        Set<List<Long>> opened = new HashSet<>(), covered = new HashSet<>();
        List<Object> named;     // seat and slot of a card played blind, until it is opened
    }

    /** One match: its setup, then every record as it comes (section 6). */
    static class Match {
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
            must(holds(spk, last.body, last.sig), "C3", NOBODY);
            must(same(last.body, enc(list("truc/1/match", sha256(setup.get(0).body), hashes))), "C8", NOBODY);
            mid = head = head0 = sha256(last.body); records = new ArrayList<>(setup);
        }

        byte[] readSeat(Raw raw, long number) {
            Fields f = Fields.read(canonical(raw.body), raw.signer == 0 ? "guest" : "seat");
            Seat seat = new Seat();
            seat.pk = f.b("pk"); seat.x = f.b("x");
            must(seat.pk == null || isAdmissible(seat.pk), "C4", NOBODY);
            must(holds(seat.pk == null ? spk : seat.pk, raw.body, raw.sig), "C3", NOBODY);
            must(f.n("seat") == number && raw.signer == (seat.pk == null ? 0 : number + 1), "C6", NOBODY);
            claim(seat.pk, f, seat.pk == null ? SERVER : NOBODY);
            if (seat.pk != null) seat.chain = newChain(seat.pk, f, 0);
            seats.add(seat);
            return sha256(raw.body);
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
            List<Object> v = canonical(raw.body);
            try {
                take(raw, v, v.get(0).toString().replace("truc/1/", ""));
            } catch (ClassCastException | IndexOutOfBoundsException | NullPointerException shape) {
                boolean isBound = v.size() > 3 && (isHere(v, true) || isHere(v, false)) && raw.signer <= seats.size();
                byte[] key = isBound && !newcomers.contains(raw.signer) ? keyOf(raw.signer) : null;
                throw new Failed("C2", key != null && holds(key, raw.body, raw.sig) ? (Long) raw.signer : NOBODY);
            }
        }

        void take(Raw raw, List<Object> v, String kind) {
            Fields f = Fields.read(v, kind);
            boolean isParallel = List.of("release", "ack").contains(kind), isSub = kind.equals("sub");
            boolean isSeats = isParallel || isSub || List.of("act", "resign").contains(kind);
            boolean isSigned = !kind.equals("proxy");
            long role = kind.equals("rekey") ? f.n("role") : isSeats ? f.n("seat") + 1 : 0;
            if (raw.signer != role || raw.sig.length != (isSigned ? 64 : 0)) throw new ClassCastException("the signer");
            must(role <= seats.size(), "C12", NOBODY);
            byte[] key = isSub ? f.b("pk") : keyOf(role);
            must(key != null, "C21", NOBODY);
            must(!isSub || isAdmissible(key), "C4", NOBODY);
            must(!isSigned || holds(key, raw.body, raw.sig), "C3", NOBODY);
            must(isHere(v, isParallel), "C10", NOBODY);
            Long by = !isSigned || isSub || newcomers.contains(role) ? NOBODY : (Long) role;
            must(List.of(KINDS.get(kind)[1].split(" ")).contains(phase), "C11", by);
            must(f.get("j") == null || f.n("j") == j, "C12", by);
            for (Object q : f.of("seat", "giver", "receiver")) must(q == null || n(q) < seats.size(), "C12", by);
            must(hand.named == null || kind.equals("open"), "C23", role == 0 ? by : NOBODY);
            fold(kind, f, by);
            head = H("link", head, raw.signer, raw.body, raw.sig); k++;
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
            boolean isFit = (seat != null) == List.of("move", "forfeit").contains(ruling);
            must(isFit && switch (ruling + " " + f.get("kind")) {
                case "forfeit silent" -> silent.contains(f.n("seat"));
                case "forfeit absent" -> isAbsent(f.n("seat")) || isExhausted;
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

    /** A `table` record: the check of what needs no table to compare with. */
    static Fields readTerms(byte[] doc, Raw raw, byte[] spk) {
        Fields f = Fields.read(canonical(raw.body), "table");
        must(holds(spk, raw.body, raw.sig), "C3", NOBODY);
        must(same(f.b("spk"), spk), "C9", NOBODY);
        must(same(sha256(doc), f.b("rules")), "C5", NOBODY);
        return f;
    }

    static long[] optsOf(List<Object> given) {
        long[] opts = {30000, 120000, 60000, 1, 0, 0, 3, 600000, 1, 3};
        for (int i = 0; i < given.size() && i < opts.length; i++) opts[i] = n(given.get(i));
        return opts;
    }

    // What must not be forgotten: the master seed, the pins, and for each th what was drawn, signed and accepted.

    static Path keep = Path.of("keyed.msgpack"), out;
    static Map<String, Object> store;

    static void save() throws IOException {
        Path fresh = keep.resolveSibling(keep.getFileName() + ".new");
        var mode = java.nio.file.attribute.PosixFilePermissions.fromString("rw-------");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, java.nio.file.attribute.PosixFilePermissions.asFileAttribute(mode));
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

    public static void main(String[] words) throws Exception {
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
            System.exit(end.code);
        }
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
            failing.forEach(raw -> items.add(enc(list(raw.signer, raw.body, raw.sig))));
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
            }
            visit.close();
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
            List<Object> v = canonical(raw.body), said = list("truc/1/refuse", match.mid, sha256(body), v.get(3));
            must(same(raw.body, enc(said)) && holds(match.spk, raw.body, raw.sig), "a refusal", NOBODY);
            items(own.computeIfAbsent("refusals", absent -> list())).add(list(raw.body, raw.sig));
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
            Fields f = readTerms(failingDoc, raw, spk);  String th = hex(sha256(raw.body));
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
            hand("seat", list("truc/1/seat", sha256(raw.body), seat, pk, chain.get("anchor"), chain.get("x"),
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
            if (match != null) return;
            List<Raw> records = items(message.get("records")).stream().map(Raw::of).toList();
            fail((byte[]) message.get("doc"), records);
            String th = hex(sha256(records.get(0).body));
            if (!of(store, "tables").containsKey(th)) throw new Ended(1, "the secrets of this match are not here");
            own = of(of(store, "tables"), th);
            mayGoOn();
            Match begun = new Match(failingDoc, records, spk);
            Raw mine = records.get(1 + (int) n(own.get("seat")));
            must(same(mine.body, items(of(own, "signed").get("seat")).get(0)), "C9", SERVER);
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
                boolean isSame = known.signer == raw.signer && same(known.body, raw.body) && same(known.sig, raw.sig);
                must(isSame, "C33", isContradiction(raw) ? SERVER : NOBODY);
                return;
            }
            try {
                match.take(raw);
            } catch (Failed failed) {
                throw failed.culprit == null && isContradiction(raw) ? new Failed("C33", SERVER) : failed;
            }
            fail(match.doc, match.records);
            List<Object> v = canonical(raw.body);
            String kind = v.get(0).toString().replace("truc/1/", "");
            boolean isOwn = of(own, "signed").values().stream().anyMatch(one -> same(items(one).get(0), raw.body));
            if (raw.signer == role() && !isOwn) throw new Ended(1, "the seat is played from elsewhere");
            must(!same(own.get("k"), match.k) || same(own.get("head"), match.head), "C33", NOBODY);
            if (kind.equals("deal") || kind.equals("share")) openDeal(Fields.read(v, kind), kind.equals("share"));
            if (kind.equals("close")) accept(match.k, match.head);
            if (!isBehind) owe();
        }

        /** Whether the server has signed it, and another body for the same k before. */
        boolean isContradiction(Raw raw) {
            if (raw.signer != 0 || !holds(match.spk, raw.body, raw.sig)) return false;
            List<Object> v = canonical(raw.body);
            return v.size() > 3 && same(v.get(1), match.mid) && match.records.stream().anyMatch(known ->
                known.signer == 0 && known.sig.length > 0 && !same(known.body, raw.body) &&
                same(canonical(known.body).get(1), match.mid) && same(canonical(known.body).get(2), v.get(2)));
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
            return chains().stream().map(Keyed::map).filter(chain -> same(chain.get("x"), x)).findFirst().orElseThrow();
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

        /** What nobody has to ask for. */
        void owe() throws IOException {
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
                Map<String, Object> chain = n(last.get("first")) == match.j ? last : freshChain(match.terms, match.j);
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
            if (match == null || isBehind || n(message.get("at")) != match.k) return;
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
