/* Drives libmemcached by lines on its standard input; src/peer.rs has the language. */

#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name { const char *name; uint64_t number; };

static const struct name behaviors[] = {
    {"distribution", MEMCACHED_BEHAVIOR_DISTRIBUTION},
    {"hash", MEMCACHED_BEHAVIOR_HASH},
    {"ketama", MEMCACHED_BEHAVIOR_KETAMA},
    {"ketama_weighted", MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED},
    {"hash_with_prefix_key", MEMCACHED_BEHAVIOR_HASH_WITH_PREFIX_KEY},
    {NULL, 0},
};

static const struct name values[] = {
    {"modula", MEMCACHED_DISTRIBUTION_MODULA},
    {"consistent", MEMCACHED_DISTRIBUTION_CONSISTENT},
    {"consistent_weighted", MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED},
    {"spy", MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY},
    {"default", MEMCACHED_HASH_DEFAULT},
    {"md5", MEMCACHED_HASH_MD5},
    {"crc", MEMCACHED_HASH_CRC},
    {"fnv1_64", MEMCACHED_HASH_FNV1_64},
    {"fnv1a_64", MEMCACHED_HASH_FNV1A_64},
    {"fnv1_32", MEMCACHED_HASH_FNV1_32},
    {"fnv1a_32", MEMCACHED_HASH_FNV1A_32},
    {"murmur", MEMCACHED_HASH_MURMUR},
    {"murmur3", MEMCACHED_HASH_MURMUR3},
    {"jenkins", MEMCACHED_HASH_JENKINS},
    {"0", 0},
    {"1", 1},
    {NULL, 0},
};

static memcached_st *client;

/* The number of a name; false when there is none. */
static int find(const struct name *names, const char *name, uint64_t *number)
{
    for (; names->name != NULL; names++) {
        if (strcmp(names->name, name) == 0) {
            *number = names->number;
            return 1;
        }
    }
    return 0;
}

/* Makes bytes of hexadecimal digits, in their own place. */
static size_t unhex(char *word)
{
    size_t length = 0;
    unsigned digit;
    if (strcmp(word, "-") == 0) return 0;
    for (; sscanf(word + 2 * length, "%2x", &digit) == 1; length++) word[length] = (char)digit;
    return length;
}

static void print_hex(const char *data, size_t length)
{
    if (length == 0) putchar('-');
    for (size_t at = 0; at < length; at++) printf("%02x", (unsigned char)data[at]);
}

static void print_error(memcached_return_t why)
{
    printf("error %s", memcached_strerror(client, why));
}

/* Behaviors take effect in the order in which they are given, before the servers are added; late_hash does so behind them. */
static void open_client(void)
{
    char *word;
    uint64_t late_hash = MEMCACHED_HASH_MAX;
    if (client != NULL) memcached_free(client);
    client = memcached_create(NULL);
    memcached_behavior_set(client, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    while ((word = strtok(NULL, " \n")) != NULL) {
        char *value = strchr(word, '=');
        uint64_t behavior, number;
        memcached_return_t result = MEMCACHED_INVALID_ARGUMENTS;
        *value++ = '\0';
        if (strcmp(word, "server") == 0) {
            char *port = strchr(value, ':');
            char *weight = strchr(port + 1, ':');
            *port++ = *weight++ = '\0';
            result = memcached_server_add_with_weight(client, value, (in_port_t)atoi(port), (uint32_t)atoi(weight));
        } else if (strcmp(word, "prefix") == 0) {
            result = memcached_callback_set(client, MEMCACHED_CALLBACK_PREFIX_KEY, value);
        } else if (strcmp(word, "late_hash") == 0) {
            result = find(values, value, &late_hash) ? MEMCACHED_SUCCESS : MEMCACHED_INVALID_ARGUMENTS;
        } else if (find(behaviors, word, &behavior) && find(values, value, &number)) {
            result = memcached_behavior_set(client, (memcached_behavior_t)behavior, number);
        }
        if (memcached_failed(result)) {
            printf("error %s=%s: %s", word, value, memcached_strerror(client, result));
            return;
        }
    }
    if (late_hash != MEMCACHED_HASH_MAX) memcached_behavior_set(client, MEMCACHED_BEHAVIOR_HASH, late_hash);
    printf("ok");
}

static void set(void)
{
    char *key = strtok(NULL, " \n"), *kind = strtok(NULL, " \n");
    char *value = strtok(NULL, " \n"), *seconds = strtok(NULL, " \n");
    size_t key_length = unhex(key), length;
    if (strcmp(kind, "bytes") != 0 && strcmp(kind, "text") != 0) {
        printf("error libmemcached has no %s", kind);
        return;
    }
    length = unhex(value);
    memcached_return_t result = memcached_set(client, key, key_length, value, length, atol(seconds), 0);
    if (memcached_success(result)) printf("ok");
    else print_error(result);
}

static void get(void)
{
    char *key = strtok(NULL, " \n");
    size_t length;
    uint32_t flags;
    memcached_return_t result;
    char *value = memcached_get(client, key, unhex(key), &length, &flags, &result);
    if (result == MEMCACHED_NOTFOUND) {
        printf("miss");
    } else if (memcached_failed(result)) {
        print_error(result);
    } else {
        printf("string ");
        print_hex(value, length);
    }
    free(value);
}

static void many(void)
{
    const char *keys[1000];
    size_t lengths[1000], count = 0;
    char *word;
    memcached_return_t result;
    memcached_result_st *found;
    while (count < 1000 && (word = strtok(NULL, " \n")) != NULL) {
        lengths[count] = unhex(word);
        keys[count++] = word;
    }
    result = memcached_mget(client, keys, lengths, count);
    if (memcached_failed(result)) {
        print_error(result);
        return;
    }
    printf("found");
    while ((found = memcached_fetch_result(client, NULL, &result)) != NULL) {
        putchar(' ');
        print_hex(memcached_result_key_value(found), memcached_result_key_length(found));
        printf(" string ");
        print_hex(memcached_result_value(found), memcached_result_length(found));
        memcached_result_free(found);
    }
}

static void incr(void)
{
    char *key = strtok(NULL, " \n"), *by = strtok(NULL, " \n");
    uint64_t count;
    memcached_return_t result = memcached_increment(client, key, unhex(key), (uint32_t)atol(by), &count);
    if (result == MEMCACHED_NOTFOUND) printf("miss");
    else if (memcached_failed(result)) print_error(result);
    else printf("count %llu", (unsigned long long)count);
}

/* Where a key would go, without a word to any server. */
static void where(void)
{
    char *key = strtok(NULL, " \n");
    uint32_t at = memcached_generate_hash(client, key, unhex(key));
    const memcached_instance_st *server = memcached_server_instance_by_position(client, at);
    printf("server %s:%d", memcached_server_name(server), (int)memcached_server_port(server));
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *verb = strtok(line, " \n");
        if (strcmp(verb, "version") == 0) printf("version libmemcached %s", memcached_lib_version());
        else if (strcmp(verb, "open") == 0) open_client();
        else if (strcmp(verb, "set") == 0) set();
        else if (strcmp(verb, "get") == 0) get();
        else if (strcmp(verb, "many") == 0) many();
        else if (strcmp(verb, "incr") == 0) incr();
        else if (strcmp(verb, "where") == 0) where();
        else printf("error unknown verb %s", verb);
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
