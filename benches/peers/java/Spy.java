// Driver of spymemcached with its defaults, one client for all threads, in the language of src/driver/mod.rs.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import net.spy.memcached.AddrUtil;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

public class Spy {
    static final int KEYS = 20, FINE = 32;

    public static class Element implements Serializable {
        public int id;
        public String name;
        public double score;
        public boolean active;

        Element(int n) {
            id = n;
            name = "element number " + n;
            score = n * 1.5;
            active = n % 2 == 0;
        }
    }

    /** One thread's work. */
    static class Worker extends Thread {
        final MemcachedClient client;
        final String op;
        final int number, size, threads;
        final long nanos;
        final List<String> keys = new ArrayList<>();
        final String text;
        final HashMap<String, Element> map = new HashMap<>();
        final CountDownLatch warm, go;
        long[] times;
        Exception error;

        Worker(MemcachedClient client, String tag, String op, int number, int threads, long millis, int size,
               CountDownLatch warm, CountDownLatch go) {
            this.client = client;
            this.op = op;
            this.number = number;
            this.threads = threads;
            this.size = size;
            this.warm = warm;
            this.go = go;
            nanos = millis * 1_000_000;
            boolean many = op.equals("get-many");
            for (int i = 0; i < (many ? size : KEYS); i++) keys.add(tag + number + "_" + i);
            text = op.equals("fill") ? "" : "0123456789abcdef".repeat(size / 16 + 2).substring(0, many ? 32 : size);
            for (int i = 0; i < 100; i++) map.put("key" + i, new Element(i));
        }

        @Override
        public void run() {
            boolean fill = op.equals("fill");
            try {
                if (!fill) warmUp();
            } catch (Exception e) {
                error = e;
            }
            // Also after a failure, so that nobody waits for ever.
            warm.countDown();
            try {
                go.await();
                if (error != null) return;
                if (fill) fill();
                else run(nanos);
            } catch (Exception e) {
                error = e;
            }
        }

        void warmUp() throws Exception {
            for (String key : keys) {
                if (op.endsWith("-map")) check(client.set(key, 0, map).get());
                else check(client.set(key, 0, text).get());
            }
            run(nanos / 5);
        }

        void run(long nanos) throws Exception {
            times = new long[FINE * 60];
            long start = System.nanoTime(), before = start;
            for (int i = 0;; i = (i + 1) % keys.size()) {
                call(keys.get(i));
                long now = System.nanoTime();
                times[bucket(now - before)]++;
                before = now;
                if (now - start >= nanos) return;
            }
        }

        void call(String key) throws Exception {
            switch (op) {
                case "set": check(client.set(key, 0, text).get()); break;
                case "get": check(text.equals(client.get(key))); break;
                case "delete": client.delete(key).get(); break;
                case "set-map": check(client.set(key, 0, map).get()); break;
                case "get-map": check(((Map<?, ?>) client.get(key)).size() == map.size()); break;
                default: check(client.getBulk(keys).size() == keys.size());
            }
        }

        void fill() throws Exception {
            times = new long[FINE * 60];
            for (int i = 0; i < size / threads; i++) {
                Element element = new Element(i);
                long before = System.nanoTime();
                check(client.set("item:k" + number + "_" + i, 0, element).get());
                times[bucket(System.nanoTime() - before)]++;
            }
        }
    }

    static void check(boolean isRight) {
        if (!isRight) throw new IllegalStateException("a wrong answer");
    }

    // As src/figures.rs has them.
    static int bucket(long nanos) {
        int shift = Math.max(0, 63 - Long.numberOfLeadingZeros(nanos) - 5);
        return shift * FINE + (int) (nanos >> shift);
    }

    static long upper(int bucket) {
        int shift = Math.max(0, bucket / FINE - 1);
        return ((bucket - shift * FINE + 1L) << shift) - 1;
    }

    static long quantile(long[] times, double share) {
        long wanted = (long) Math.ceil(Arrays.stream(times).sum() * share), seen = 0;
        for (int b = 0; b < times.length; b++) {
            seen += times[b];
            if (seen >= wanted) return upper(b);
        }
        return 0;
    }

    static String measure(MemcachedClient client, String tag, String[] ask, PrintStream out) throws Exception {
        int threads = Integer.parseInt(ask[1]), size = Integer.parseInt(ask[3]);
        CountDownLatch warm = new CountDownLatch(threads), go = new CountDownLatch(1);
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Worker worker = new Worker(client, tag, ask[0], i, threads, Long.parseLong(ask[2]), size, warm, go);
            worker.setDaemon(true);
            workers.add(worker);
            worker.start();
        }
        warm.await();
        out.println("begin");
        long start = System.nanoTime();
        go.countDown();
        long[] times = new long[FINE * 60];
        for (Worker worker : workers) {
            worker.join();
            if (worker.error != null) return "failed " + worker.error;
            for (int b = 0; b < times.length; b++) times[b] += worker.times[b];
        }
        long took = System.nanoTime() - start;
        return "ok " + Arrays.stream(times).sum() + " " + took + " " + quantile(times, 0.5) + " " + quantile(times, 0.99);
    }

    public static void main(String[] a) throws Exception {
        // What the library logs goes to standard error; its own default would mix it with the answers.
        PrintStream out = System.out;
        System.setOut(System.err);
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        java.util.logging.Logger.getLogger("net.spy").setLevel(java.util.logging.Level.SEVERE);
        MemcachedClient client = new MemcachedClient(
            new ConnectionFactoryBuilder().setDaemon(true).setOpTimeout(10_000).build(),
            AddrUtil.getAddresses(a[0].replace(',', ' ')));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(measure(client, a[2], line.split(" "), out));
        }
        System.exit(0);
    }
}
