// Sections 2 to 4 and 6: hashes, keys, signatures, boxes, chains, and the order of the pack.

package keyed;

import java.math.BigInteger;
import java.security.*;
import java.security.spec.*;
import java.util.*;
import java.util.stream.*;
import javax.crypto.*;
import javax.crypto.spec.*;

import static keyed.Values.*;

final class Keys {
    // Keys and boxes, from the JDK. It wants keys as DER: a few bytes, then the 32 of the key.

    static final SecureRandom CHANCE = new SecureRandom();

    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        CHANCE.nextBytes(bytes);
        return bytes;
    }

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

    // The sum of two points of the curve; (x, y, z) is the point (x/z, y/z): a division in each of hundreds of sums would be slow.
    static BigInteger[] add(BigInteger[] a, BigInteger[] b) {
        BigInteger x = a[0].multiply(b[0]).mod(P), y = a[1].multiply(b[1]).mod(P), z = a[2].multiply(b[2]).mod(P);
        BigInteger square = z.multiply(z), t = D.multiply(x).mod(P).multiply(y), less = square.subtract(t).mod(P), more = square.add(t).mod(P);
        BigInteger crossed = a[0].add(a[1]).multiply(b[0].add(b[1])).subtract(x).subtract(y).mod(P);
        return new BigInteger[] {
            z.multiply(less).mod(P).multiply(crossed).mod(P), z.multiply(more).mod(P).multiply(x.add(y)).mod(P), less.multiply(more).mod(P)
        };
    }

    /** C4: a point of the subgroup of prime order, canonically encoded, not the identity. */
    static boolean isAdmissible(byte[] key) {
        BigInteger y = little(key).clearBit(255), square = y.multiply(y);
        if (key.length != 32 || y.compareTo(P) >= 0) return false;
        BigInteger x2 = square.subtract(ONE).multiply(D.multiply(square).add(ONE).modInverse(P)).mod(P);
        BigInteger x = x2.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!x.multiply(x).mod(P).equals(x2)) x = x.multiply(ROOT).mod(P);
        if (x.signum() == 0 || !x.multiply(x).mod(P).equals(x2)) return false;
        BigInteger[] sum = {BigInteger.ZERO, ONE, ONE}, point = {x.testBit(0) == key[31] < 0 ? x : P.subtract(x), y, ONE};
        for (int i = L.bitLength() - 1; i >= 0; i--) {
            sum = add(sum, sum);
            if (L.testBit(i)) sum = add(sum, point);
        }
        return sum[0].signum() == 0 && sum[1].equals(sum[2]);
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
}
