// The kinds of records, and their fields by name.

package keyed;

import java.util.*;
import java.util.stream.*;

import static keyed.Keys.*;
import static keyed.Values.*;

final class Records {
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
}
