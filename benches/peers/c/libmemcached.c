/* Driver of libmemcached through its own pool, in the language of src/driver/mod.rs. Maps and structs: unsupported. */
#include <libmemcached/memcached.h>
#include <libmemcachedutil-1.0/pool.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEYS = 20, FINE = 32, BUCKETS = FINE * 60 };
enum op { SET, GET, DELETE, GET_MANY };

static memcached_pool_st *pool;
static const char *tag;
static enum op op;
static long threads, millis, size;
static pthread_barrier_t warm, go;

struct worker {
    pthread_t thread;
    int number, keys;
    char **key;
    size_t *key_len;
    char *text;
    size_t text_len;
    uint64_t times[BUCKETS];
    const char *error;
};

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As src/figures.rs has them. */
static int bucket(uint64_t nanos) {
    int shift = nanos ? 63 - __builtin_clzll(nanos) - 5 : 0;
    if (shift < 0) shift = 0;
    return shift * FINE + (int)(nanos >> shift);
}

static uint64_t upper(int bucket) {
    int shift = bucket / FINE > 0 ? bucket / FINE - 1 : 0;
    return (((uint64_t)(bucket - shift * FINE) + 1) << shift) - 1;
}

static const char *get_many(memcached_st *m, struct worker *w) {
    memcached_return_t rc = memcached_mget(m, (const char *const *)w->key, w->key_len, (size_t)w->keys);
    if (memcached_failed(rc)) return memcached_strerror(m, rc);
    memcached_result_st result, *found;
    if (!memcached_result_create(m, &result)) return "no memory";
    int hits = 0;
    while ((found = memcached_fetch_result(m, &result, &rc))) {
        /* What a caller keeps: the others hand out values of their own, too. */
        char *value = strndup(memcached_result_value(found), memcached_result_length(found));
        hits += value != NULL && strlen(value) == w->text_len;
        free(value);
    }
    memcached_result_free(&result);
    return hits == w->keys ? NULL : "a wrong answer";
}

static const char *call(struct worker *w, enum op op, int i) {
    memcached_return_t rc = MEMCACHED_FAILURE;
    memcached_st *m = memcached_pool_pop(pool, true, &rc);
    if (!m) return "no connection";
    const char *error = NULL;
    if (op == SET) {
        rc = memcached_set(m, w->key[i], w->key_len[i], w->text, w->text_len, 0, 0);
        if (memcached_failed(rc)) error = memcached_strerror(m, rc);
    } else if (op == DELETE) {
        rc = memcached_delete(m, w->key[i], w->key_len[i], 0);
        if (memcached_failed(rc) && rc != MEMCACHED_NOTFOUND) error = memcached_strerror(m, rc);
    } else if (op == GET) {
        size_t len;
        uint32_t flags;
        char *value = memcached_get(m, w->key[i], w->key_len[i], &len, &flags, &rc);
        if (!value) error = memcached_strerror(m, rc);
        else if (len != w->text_len || memcmp(value, w->text, len) != 0) error = "a wrong answer";
        free(value);
    } else {
        error = get_many(m, w);
    }
    memcached_pool_push(pool, m);
    return error;
}

static const char *run(struct worker *w, uint64_t nanos) {
    memset(w->times, 0, sizeof w->times);
    uint64_t start = now(), before = start;
    for (int i = 0;; i = (i + 1) % w->keys) {
        const char *error = call(w, op, i);
        if (error) return error;
        uint64_t t = now();
        w->times[bucket(t - before)]++;
        before = t;
        if (t - start >= nanos) return NULL;
    }
}

static const char *warm_up(struct worker *w) {
    for (int i = 0; i < w->keys; i++) {
        const char *error = call(w, SET, i);
        if (error) return error;
    }
    return run(w, (uint64_t)millis * 1000000u / 5);
}

static void *work(void *argument) {
    struct worker *w = argument;
    w->error = warm_up(w);
    /* Also after a failure, so that nobody waits for ever. */
    pthread_barrier_wait(&warm);
    pthread_barrier_wait(&go);
    if (!w->error) w->error = run(w, (uint64_t)millis * 1000000u);
    return NULL;
}

static struct worker *hire(int number) {
    struct worker *w = calloc(1, sizeof *w);
    w->number = number;
    w->keys = op == GET_MANY ? (int)size : KEYS;
    w->key = calloc((size_t)w->keys, sizeof *w->key);
    w->key_len = calloc((size_t)w->keys, sizeof *w->key_len);
    for (int i = 0; i < w->keys; i++) {
        char key[64];
        w->key_len[i] = (size_t)snprintf(key, sizeof key, "%s%d_%d", tag, number, i);
        w->key[i] = strdup(key);
    }
    w->text_len = op == GET_MANY ? 32 : (size_t)size;
    w->text = malloc(w->text_len + 1);
    for (size_t i = 0; i < w->text_len; i++) w->text[i] = "0123456789abcdef"[i % 16];
    w->text[w->text_len] = 0;
    return w;
}

static void dismiss(struct worker *w) {
    for (int i = 0; i < w->keys; i++) free(w->key[i]);
    free(w->key);
    free(w->key_len);
    free(w->text);
    free(w);
}

static void measure(void) {
    pthread_barrier_init(&warm, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&go, NULL, (unsigned)threads + 1);
    struct worker **workers = calloc((size_t)threads, sizeof *workers);
    for (int i = 0; i < threads; i++) {
        workers[i] = hire(i);
        pthread_create(&workers[i]->thread, NULL, work, workers[i]);
    }
    pthread_barrier_wait(&warm);
    puts("begin");
    fflush(stdout);
    uint64_t start = now();
    pthread_barrier_wait(&go);
    static uint64_t times[BUCKETS];
    memset(times, 0, sizeof times);
    uint64_t calls = 0;
    char error[256] = "";
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i]->thread, NULL);
        if (workers[i]->error) snprintf(error, sizeof error, "%s", workers[i]->error);
        for (int b = 0; b < BUCKETS; b++) {
            times[b] += workers[i]->times[b];
            calls += workers[i]->times[b];
        }
        dismiss(workers[i]);
    }
    free(workers);
    uint64_t took = now() - start, seen = 0, p50 = 0, p99 = 0;
    for (int b = 0; b < BUCKETS; b++) {
        seen += times[b];
        if (!p50 && seen * 2 >= calls) p50 = upper(b);
        if (!p99 && seen * 100 >= calls * 99) p99 = upper(b);
    }
    if (error[0]) printf("failed %s\n", error);
    else printf("ok %llu %llu %llu %llu\n", (unsigned long long)calls, (unsigned long long)took,
                (unsigned long long)p50, (unsigned long long)p99);
    fflush(stdout);
    pthread_barrier_destroy(&warm);
    pthread_barrier_destroy(&go);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: libmemcached HOST:PORT,... CONNECTIONS TAG\n", stderr);
        return 2;
    }
    memcached_st *m = memcached_create(NULL);
    memcached_server_list_st servers = memcached_servers_parse(argv[1]);
    memcached_server_push(m, servers);
    memcached_server_list_free(servers);
    memcached_behavior_set(m, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    memcached_behavior_set(m, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, 10000);
    int connections = atoi(argv[2]);
    /* One for each thread of the largest workload, unless they are capped. */
    pool = memcached_pool_create(m, 1, connections > 0 ? (uint32_t)connections : 100);
    tag = argv[3];
    char word[16];
    while (scanf("%15s %ld %ld %ld", word, &threads, &millis, &size) == 4) {
        if (!strcmp(word, "set")) op = SET;
        else if (!strcmp(word, "get")) op = GET;
        else if (!strcmp(word, "delete")) op = DELETE;
        else if (!strcmp(word, "get-many")) op = GET_MANY;
        else {
            puts("unsupported");
            fflush(stdout);
            continue;
        }
        measure();
    }
    return 0;
}
