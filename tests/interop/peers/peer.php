<?php
// Drives a PHP extension, named by the first argument, by lines on its standard input; src/peer.rs has the language.

ini_set('serialize_precision', '-1');

function unhex(string $word): string
{
    return $word === '-' ? '' : hex2bin($word);
}

function tohex(string $data): string
{
    return $data === '' ? '-' : bin2hex($data);
}

function value_of(string $kind, string $data): mixed
{
    return match ($kind) {
        'null' => null,
        'bool' => $data === 'true',
        'int' => intval($data),
        'float' => unpack('E', $data)[1],
        'text', 'bytes' => $data,
        'json' => json_decode($data, true, 512, JSON_THROW_ON_ERROR),
    };
}

function answer_of(mixed $value): string
{
    [$kind, $data] = match (gettype($value)) {
        'NULL' => ['null', ''],
        'boolean' => ['bool', $value ? 'true' : 'false'],
        'integer' => ['int', strval($value)],
        'double' => ['float', pack('E', $value)],
        'string' => ['string', $value],
        'array', 'object' => ['json', json_encode($value, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION)],
    };
    return $kind . ' ' . tohex($data);
}

/** Options are constants of Memcached without their OPT_, in small letters; values are numbers, words or constants. */
class WithMemcached
{
    private Memcached $client;

    public static function version(): string
    {
        ob_start();
        (new ReflectionExtension('memcached'))->info();
        preg_match('/libmemcached\S* (?:library )?version => (\S+)/', ob_get_clean(), $found);
        return 'php-memcached ' . phpversion('memcached') . ', libmemcached ' . $found[1];
    }

    public function __construct(array $servers, array $options)
    {
        $this->client = new Memcached();
        foreach ($options as $name => $value) {
            $constant = 'Memcached::' . strtoupper($value);
            $value = defined($constant) ? constant($constant) : (is_numeric($value) ? intval($value) : $value);
            if (!$this->client->setOption(constant('Memcached::OPT_' . strtoupper($name)), $value)) {
                throw new Exception("$name is refused: " . $this->client->getResultMessage());
            }
        }
        $this->client->addServers($servers);
    }

    public function set(string $key, mixed $value, int $seconds): bool
    {
        if (!$this->client->set($key, $value, $seconds)) {
            throw new Exception($this->client->getResultMessage());
        }
        return true;
    }

    public function get(string $key): ?array
    {
        $value = $this->client->get($key);
        return match ($this->client->getResultCode()) {
            Memcached::RES_SUCCESS => [$value],
            Memcached::RES_NOTFOUND => null,
            default => throw new Exception($this->client->getResultMessage()),
        };
    }

    public function many(array $keys): array
    {
        return $this->client->getMulti($keys);
    }

    public function incr(string $key, int $by): int|false
    {
        return $this->client->increment($key, $by);
    }

    public function where(string $key): string
    {
        $server = $this->client->getServerByKey($key);
        return $server['host'] . ':' . $server['port'];
    }
}

/** Options are settings of php.ini without their memcache., compress_threshold among them. */
class WithMemcache
{
    private Memcache $client;

    public static function version(): string
    {
        return 'pecl memcache ' . phpversion('memcache');
    }

    public function __construct(array $servers, array $options)
    {
        foreach ($options as $name => $value) {
            if (ini_set('memcache.' . $name, $value) === false) {
                throw new Exception("$name is refused");
            }
        }
        $this->client = new Memcache();
        foreach ($servers as [$host, $port, $weight]) {
            $this->client->addServer($host, $port, false, $weight);
        }
    }

    public function set(string $key, mixed $value, int $seconds): bool
    {
        return $this->client->set($key, $value, 0, $seconds);
    }

    public function get(string $key): ?array
    {
        $value = $this->client->get($key);
        // False may be a miss or a value: only a call for many keys tells which.
        return $value === false && !$this->client->get([$key]) ? null : [$value];
    }

    public function many(array $keys): array
    {
        // It leaves the prefix on the keys that it found.
        $prefix = strlen(ini_get('memcache.prefix_static_key'));
        $found = [];
        foreach ($this->client->get($keys) as $key => $value) {
            $found[substr($key, $prefix)] = $value;
        }
        return $found;
    }

    public function incr(string $key, int $by): int|false
    {
        return $this->client->increment($key, $by);
    }
}

function open_client(string $kind, array $words): object
{
    $servers = $options = [];
    foreach ($words as $word) {
        [$name, $value] = explode('=', $word, 2);
        if ($name === 'server') {
            [$host, $port, $weight] = explode(':', $value);
            $servers[] = [$host, intval($port), intval($weight)];
        } else {
            $options[$name] = $value;
        }
    }
    return new $kind($servers, $options);
}

function perform(object $client, string $verb, array $words): string
{
    switch ($verb) {
        case 'set':
            [$key, $kind, $data, $seconds] = $words;
            return $client->set(unhex($key), value_of($kind, unhex($data)), intval($seconds)) ? 'ok' : 'no';
        case 'get':
            $found = $client->get(unhex($words[0]));
            return $found === null ? 'miss' : answer_of($found[0]);
        case 'many':
            $answer = 'found';
            foreach ($client->many(array_map('unhex', $words)) as $key => $value) {
                // PHP makes numbers of keys that look like some.
                $answer .= ' ' . tohex(strval($key)) . ' ' . answer_of($value);
            }
            return $answer;
        case 'incr':
            $count = $client->incr(unhex($words[0]), intval($words[1]));
            return $count === false ? 'miss' : "count $count";
        case 'where':
            return 'server ' . $client->where(unhex($words[0]));
    }
    throw new Exception("unknown verb $verb");
}

set_error_handler(fn ($level, $message) => throw new Exception($message), E_WARNING | E_NOTICE);
error_reporting(E_ALL & ~E_DEPRECATED);
$kind = ['memcached' => 'WithMemcached', 'memcache' => 'WithMemcache'][$argv[1]];
$client = null;
while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', trim($line));
    $verb = array_shift($words);
    try {
        if ($verb === 'version') {
            $answer = 'version ' . $kind::version() . ', PHP ' . PHP_VERSION;
        } elseif ($verb === 'open') {
            $client = open_client($kind, $words);
            $answer = 'ok';
        } else {
            $answer = perform($client, $verb, $words);
        }
    } catch (Throwable $error) {
        $answer = 'error ' . preg_replace('/\s+/', ' ', $error->getMessage());
    }
    fwrite(STDOUT, $answer . "\n");
}
