# Drives a Python client, named by the first argument, by lines on its standard input; src/peer.rs has the language.
import json
import struct
import sys


def unhex(word):
    return b"" if word == "-" else bytes.fromhex(word)


def tohex(data):
    return data.hex() or "-"


def value_of(kind, data):
    return {
        "null": lambda: None,
        "bool": lambda: data == b"true",
        "int": lambda: int(data),
        "float": lambda: struct.unpack(">d", data)[0],
        "text": lambda: data.decode(),
        "bytes": lambda: data,
        "json": lambda: json.loads(data),
    }[kind]()


def answer_of(value):
    kind, data = {
        type(None): lambda: ("null", b""),
        bool: lambda: ("bool", b"true" if value else b"false"),
        int: lambda: ("int", str(value).encode()),
        float: lambda: ("float", struct.pack(">d", value)),
        str: lambda: ("text", value.encode()),
        bytes: lambda: ("bytes", value),
        list: lambda: ("json", json.dumps(value).encode()),
        dict: lambda: ("json", json.dumps(value).encode()),
    }[type(value)]()
    return f"{kind} {tohex(data)}"


def key_of(word):
    return unhex(word).decode()


class Pymemcache:
    """One server with a Client, several with a HashClient; serde says how values become bytes."""

    def __init__(self, servers, options):
        from pymemcache import serde
        from pymemcache.client.base import Client
        from pymemcache.client.hash import HashClient

        more = {"default_noreply": False, "allow_unicode_keys": True, "no_delay": True}
        if "serde" in options:
            more["serde"] = {"pickle": serde.pickle_serde, "compressed": serde.compressed_serde}[options["serde"]]
        if "prefix" in options:
            more["key_prefix"] = options["prefix"].encode()
        addresses = [(host, port) for host, port, _ in servers]
        self.client = HashClient(addresses, **more) if "hash" in options else Client(addresses[0], **more)

    @staticmethod
    def version():
        import pymemcache

        return f"pymemcache {pymemcache.__version__}"

    def set(self, key, value, seconds):
        return self.client.set(key, value, expire=seconds)

    def get(self, key):
        return self.client.get(key)

    def get_many(self, keys):
        return self.client.get_many(keys)

    def incr(self, key, by):
        return self.client.incr(key, by)

    def where(self, key):
        # As HashClient does it for a get of this key.
        return "%s:%s" % self.client._get_client(key).server


class WithPrefixInCallsForMany:
    """What the two clients share that know a prefix in their calls for many keys only."""

    def set(self, key, value, seconds):
        failed = self.client.set_multi({key: value}, time=seconds, key_prefix=self.prefix, min_compress_len=self.compress)
        return not failed

    def get(self, key):
        return self.get_many([key]).get(key) if self.prefix else self.client.get(key)

    def get_many(self, keys):
        return self.client.get_multi(keys, key_prefix=self.prefix)


class Pylibmc(WithPrefixInCallsForMany):
    """Options are behaviors, but for prefix and compress_above."""

    def __init__(self, servers, options):
        import pylibmc

        self.missing = pylibmc.NotFound
        self.compress = int(options.pop("compress_above", 0))
        self.prefix = options.pop("prefix", "")
        addresses = [f"{host}:{port}:{weight}" for host, port, weight in servers]
        behaviors = {name: value if name in ("hash", "ketama_hash", "distribution") else int(value)
                     for name, value in options.items()}
        self.client = pylibmc.Client(addresses, behaviors={"tcp_nodelay": True, **behaviors})

    @staticmethod
    def version():
        import pylibmc

        return f"pylibmc {pylibmc.__version__}, libmemcached {pylibmc.libmemcached_version}"

    def incr(self, key, by):
        try:
            return self.client.incr(key, by)
        except self.missing:
            return None


class PythonMemcached(WithPrefixInCallsForMany):
    """Its options are those of its calls: prefix and compress_above."""

    def __init__(self, servers, options):
        import memcache

        self.compress = int(options.get("compress_above", 0))
        self.prefix = options.get("prefix", "")
        self.client = memcache.Client([(f"{host}:{port}", weight) for host, port, weight in servers])

    @staticmethod
    def version():
        import memcache

        return f"python-memcached {memcache.__version__}"

    def incr(self, key, by):
        return self.client.incr(key, by)

    def where(self, key):
        # As its _get_server does it, but without a connection.
        import memcache

        buckets = self.client.buckets
        server = buckets[memcache.serverHashFunction(key.encode()) % len(buckets)]
        return "%s:%s" % server.address


class Bmemcached:
    """python-binary-memcached, which has the binary protocol only."""

    # With it a counter that is missing is not made.
    NEVER_MAKE = 0xFFFFFFFF
    NOT_FOUND = 1

    def __init__(self, servers, options):
        from bmemcached import DistributedClient

        self.client = DistributedClient([f"{host}:{port}" for host, port, _ in servers])

    @staticmethod
    def version():
        from importlib.metadata import version

        return f"python-binary-memcached {version('python-binary-memcached')}"

    def set(self, key, value, seconds):
        return self.client.set(key, value, time=seconds)

    def get(self, key):
        return self.client.get(key)

    def get_many(self, keys):
        return self.client.get_multi(keys)

    def incr(self, key, by):
        from bmemcached.exceptions import MemcachedException

        try:
            return self.client.incr(key, by, time=self.NEVER_MAKE)
        except MemcachedException as error:
            if error.code == self.NOT_FOUND:
                return None
            raise

    def where(self, key):
        server = self.client._get_server(key)
        return f"{server.host}:{server.port}"


KINDS = {
    "bmemcached": Bmemcached,
    "pylibmc": Pylibmc,
    "pymemcache": Pymemcache,
    "python_memcached": PythonMemcached,
}


def open_client(kind, words):
    servers, options = [], {}
    for word in words:
        name, value = word.split("=", 1)
        if name == "server":
            host, port, weight = value.rsplit(":", 2)
            servers.append((host, int(port), int(weight)))
        else:
            options[name] = value
    return kind(servers, options)


def perform(client, verb, words):
    if verb == "set":
        key, kind, data, seconds = words
        return "ok" if client.set(key_of(key), value_of(kind, unhex(data)), int(seconds)) else "no"
    if verb == "get":
        value = client.get(key_of(words[0]))
        # None may be a miss or a value: only a call for many keys tells which.
        if value is None and not client.get_many([key_of(words[0])]):
            return "miss"
        return answer_of(value)
    if verb == "many":
        found = client.get_many([key_of(word) for word in words])
        return " ".join(["found", *(f"{tohex(key.encode())} {answer_of(value)}" for key, value in found.items())])
    if verb == "incr":
        count = client.incr(key_of(words[0]), int(words[1]))
        return "miss" if count is None else f"count {count}"
    if verb == "where":
        return f"server {client.where(key_of(words[0]))}"
    raise ValueError(f"unknown verb {verb}")


def main():
    kind = KINDS[sys.argv[1]]
    client = None
    for line in sys.stdin:
        verb, *words = line.split()
        try:
            if verb == "version":
                answer = f"version {kind.version()}, Python {sys.version.split()[0]}"
            elif verb == "open":
                client, answer = open_client(kind, words), "ok"
            else:
                answer = perform(client, verb, words)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, flush=True)


main()
