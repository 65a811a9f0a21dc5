// Drives spymemcached by lines on its standard input; src/peer.rs has the language.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.spy.memcached.ConnectionFactory;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.KetamaConnectionFactory;
import net.spy.memcached.KetamaNodeKeyFormatter;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.transcoders.SerializingTranscoder;
import net.spy.memcached.transcoders.Transcoder;
import net.spy.memcached.transcoders.WhalinTranscoder;

public class Peer {
    /** A factory of ring points that also has a transcoder to say. */
    private static class Weighted extends KetamaConnectionFactory {
        private final Transcoder<Object> transcoder;

        Weighted(KetamaNodeKeyFormatter.Format format, Map<InetSocketAddress, Integer> weights, Transcoder<Object> transcoder) {
            super(16384, 16384, 10000, DefaultHashAlgorithm.KETAMA_HASH, format, weights);
            this.transcoder = transcoder;
        }

        @Override
        public Transcoder<Object> getDefaultTranscoder() {
            return transcoder;
        }
    }

    private static MemcachedClient client;

    private static byte[] unhex(String word) {
        if (word.equals("-")) return new byte[0];
        byte[] bytes = new byte[word.length() / 2];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) Integer.parseInt(word.substring(2 * at, 2 * at + 2), 16);
        }
        return bytes;
    }

    private static String toHex(byte[] bytes) {
        if (bytes.length == 0) return "-";
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) text.append(String.format("%02x", b));
        return text.toString();
    }

    private static String text(String word) {
        return new String(unhex(word), StandardCharsets.UTF_8);
    }

    /** Numbers come in Java's sizes; int is a long. */
    private static Object valueOf(String kind, String word) {
        byte[] data = unhex(word);
        switch (kind) {
            case "bool": return text(word).equals("true");
            case "i8": return Byte.valueOf(text(word));
            case "i16": return Short.valueOf(text(word));
            case "i32": return Integer.valueOf(text(word));
            case "int": return Long.valueOf(text(word));
            case "f32": return ByteBuffer.wrap(data).getFloat();
            case "float": return ByteBuffer.wrap(data).getDouble();
            case "char": return text(word).charAt(0);
            case "date": return new Date(Long.parseLong(text(word)));
            case "text": return text(word);
            case "bytes": return data;
            case "object": return new ArrayList<>(Arrays.asList(text(word)));
            default: throw new IllegalArgumentException("Java has no " + kind);
        }
    }

    private static String answerOf(Object value) {
        String kind;
        byte[] data = value.toString().getBytes(StandardCharsets.UTF_8);
        if (value instanceof Boolean) kind = "bool";
        else if (value instanceof Byte) kind = "i8";
        else if (value instanceof Short) kind = "i16";
        else if (value instanceof Integer) kind = "i32";
        else if (value instanceof Long) kind = "int";
        else if (value instanceof Character) kind = "char";
        else if (value instanceof String) kind = "text";
        else if (value instanceof Float) {
            kind = "f32";
            data = ByteBuffer.allocate(4).putFloat((Float) value).array();
        } else if (value instanceof Double) {
            kind = "float";
            data = ByteBuffer.allocate(8).putDouble((Double) value).array();
        } else if (value instanceof Date) {
            kind = "date";
            data = Long.toString(((Date) value).getTime()).getBytes(StandardCharsets.UTF_8);
        } else if (value instanceof byte[]) {
            kind = "bytes";
            data = (byte[]) value;
        } else {
            kind = "object";
        }
        return kind + " " + toHex(data);
    }

    /** locator=array|ketama|weighted|libmemcached, hash=a DefaultHashAlgorithm, transcoder=whalin, compress_above=bytes. */
    private static void open(String[] words) throws Exception {
        List<InetSocketAddress> servers = new ArrayList<>();
        Map<InetSocketAddress, Integer> weights = new HashMap<>();
        Map<String, String> options = new HashMap<>();
        for (String word : Arrays.copyOfRange(words, 1, words.length)) {
            String[] option = word.split("=", 2);
            if (!option[0].equals("server")) {
                options.put(option[0], option[1]);
                continue;
            }
            String[] parts = option[1].split(":");
            InetSocketAddress server = new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
            servers.add(server);
            weights.put(server, Integer.valueOf(parts[2]));
        }
        Transcoder<Object> transcoder = transcoder(options);
        if (client != null) client.shutdown();
        client = new MemcachedClient(factory(options, weights, transcoder), servers);
    }

    private static Transcoder<Object> transcoder(Map<String, String> options) {
        int threshold = Integer.parseInt(options.getOrDefault("compress_above", "16384"));
        if ("whalin".equals(options.get("transcoder"))) {
            WhalinTranscoder transcoder = new WhalinTranscoder();
            transcoder.setCompressionThreshold(threshold);
            return transcoder;
        }
        SerializingTranscoder transcoder = new SerializingTranscoder();
        transcoder.setCompressionThreshold(threshold);
        return transcoder;
    }

    private static ConnectionFactory factory(
            Map<String, String> options, Map<InetSocketAddress, Integer> weights, Transcoder<Object> transcoder) {
        DefaultHashAlgorithm hash = DefaultHashAlgorithm.valueOf(options.getOrDefault("hash", "NATIVE_HASH"));
        switch (options.getOrDefault("locator", "array")) {
            case "weighted": return new Weighted(KetamaNodeKeyFormatter.Format.SPYMEMCACHED, weights, transcoder);
            case "libmemcached": return new Weighted(KetamaNodeKeyFormatter.Format.LIBMEMCACHED, weights, transcoder);
            case "ketama":
                return new ConnectionFactoryBuilder()
                        .setLocatorType(ConnectionFactoryBuilder.Locator.CONSISTENT)
                        .setHashAlg(hash)
                        .setTranscoder(transcoder)
                        .build();
            default: return new ConnectionFactoryBuilder().setHashAlg(hash).setTranscoder(transcoder).build();
        }
    }

    private static String perform(String[] words) throws Exception {
        switch (words[0]) {
            case "version":
                return "version spymemcached " + System.getProperty("version")
                        + ", Java " + System.getProperty("java.version");
            case "open":
                open(words);
                return "ok";
            case "set":
                return client.set(text(words[1]), Integer.parseInt(words[4]), valueOf(words[2], words[3])).get() ? "ok" : "no";
            case "get": {
                Object value = client.get(text(words[1]));
                return value == null ? "miss" : answerOf(value);
            }
            case "many": {
                List<String> keys = new ArrayList<>();
                for (int at = 1; at < words.length; at++) keys.add(text(words[at]));
                StringBuilder answer = new StringBuilder("found");
                for (Map.Entry<String, Object> found : client.getBulk(keys).entrySet()) {
                    answer.append(' ').append(toHex(found.getKey().getBytes(StandardCharsets.UTF_8)));
                    answer.append(' ').append(answerOf(found.getValue()));
                }
                return answer.toString();
            }
            case "incr": {
                long count = client.incr(text(words[1]), Integer.parseInt(words[2]));
                return count < 0 ? "miss" : "count " + count;
            }
            case "where": {
                InetSocketAddress server =
                        (InetSocketAddress) client.getNodeLocator().getPrimary(text(words[1])).getSocketAddress();
                return "server " + server.getAddress().getHostAddress() + ":" + server.getPort();
            }
            default: throw new IllegalArgumentException("unknown verb " + words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        java.util.logging.LogManager.getLogManager().reset();
        // What the client prints by itself is no answer.
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        String line;
        while ((line = in.readLine()) != null) {
            String answer;
            try {
                answer = perform(line.trim().split(" "));
            } catch (Exception error) {
                answer = "error " + error.toString().replaceAll("\\s+", " ");
            }
            out.println(answer);
        }
        // Its threads would keep the process alive.
        System.exit(0);
    }
}
