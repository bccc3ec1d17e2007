// What is wrong, and section 1: msgpack and its canonical kind.

package keyed;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.*;

import static java.nio.charset.StandardCharsets.UTF_8;

final class Values {
    /** A check has failed; `culprit` is a role, or null where nobody is shown to blame. */
    static class Failed extends RuntimeException {
        final Long culprit;

        Failed(String check, Long culprit) {
            super(check + (culprit == null ? " fails, nobody is shown to blame" : " fails, to blame: " +
                (culprit == 0 ? "server" : "seat " + (culprit - 1))));
            this.culprit = culprit;
        }
    }

    static final Long SERVER = 0L, NOBODY = null;

    static void must(boolean holds, String check, Long culprit) { if (!holds) throw new Failed(check, culprit); }

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
        return value instanceof List<?> list ? list.stream().allMatch(Values::isPlain) : !(value instanceof Map);
    }
}
