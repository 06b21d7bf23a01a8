// A session in C, for the comparison with other languages: reads cases as tests/cases/README.md has them, runs those of the
// session, and writes their seconds and counts.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llama_speculative.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static int32_t check(int32_t status, llama_speculative_session * session) {
    if (status < 0) {
        fprintf(stderr, "%s\n", llama_speculative_session_last_error(session));
        exit(1);
    }
    return status;
}

struct run {
    llama_speculative_params         params;
    llama_speculative_session_params session;
    int32_t *                        prompt;
    size_t                           n_prompt;
    int32_t                          n_predict;
};

static void start_case(struct run * r) {
    memset(r, 0, sizeof(*r));
    check(llama_speculative_params_init(&r->params, sizeof(r->params)), NULL);
    check(llama_speculative_session_params_init(&r->session, sizeof(r->session)), NULL);
    r->session.n_threads = 1;
}

static void set(struct run * r, const char * name, const char * value) {
    const struct { const char * name; int32_t * field; } numbers[] = {
        { "n_ctx", &r->session.n_ctx }, { "n_batch", &r->session.n_batch }, { "n_ubatch", &r->session.n_ubatch },
        { "n_draft_max", &r->params.n_draft_max },
        { "ngram_simple_n", &r->params.ngram_simple_n }, { "ngram_simple_m", &r->params.ngram_simple_m },
    };
    if (strcmp(name, "strategies") == 0) {
        r->params.strategies = strdup(value);
        return;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].field = atoi(value);
            return;
        }
    }
    fprintf(stderr, "this program does not know %s\n", name);
    exit(1);
}

static void run_case(struct run * r, const char * name) {
    r->session.speculative = &r->params;
    llama_speculative_session * session = NULL;
    check(llama_speculative_session_open(&r->session, &session), NULL);
    llama_speculative_gen_params limits;
    check(llama_speculative_gen_params_init(&limits, sizeof(limits)), NULL);
    limits.n_predict = r->n_predict;
    llama_speculative_piece      piece  = { .struct_size = sizeof(piece) };
    llama_speculative_gen_result result = { .struct_size = sizeof(result) };
    char * text = calloc((size_t) r->n_predict + 1, 256);
    char * end  = text;

    const double start = now();
    check(llama_speculative_session_start(session, r->prompt, r->n_prompt, &limits), session);
    while (check(llama_speculative_session_next(session, &piece), session) == LLAMA_SPECULATIVE_OK) {
        const size_t n = strlen(piece.text); // what every binding does at least: the text is the caller's to keep
        memcpy(end, piece.text, n);
        end += n;
    }
    const double seconds = now() - start;

    check(llama_speculative_session_result(session, &result), session);
    printf("case %s session\ntext ", name);
    for (const char * c = text; c < end; c++) {
        printf("%02x", (unsigned char) *c);
    }
    printf("\nseconds %.6f\ndrafted 0 %" PRIu64 "\naccepted 0 %" PRIu64 "\nend\n", seconds, result.n_drafted, result.n_accepted);
    free(text);
    llama_speculative_session_close(session);
}

int main(void) {
    static char line[1 << 16];
    char name[256] = "", key[256], value[256];
    struct run r;
    start_case(&r);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "case %255s", name) == 1) {
            start_case(&r);
        } else if (strncmp(line, "target ", 7) == 0) {
            r.session.model = strdup(line + 7);
        } else if (strncmp(line, "draft ", 6) == 0) {
            r.session.model_draft = strdup(line + 6);
        } else if (sscanf(line, "context %255s %255s", key, value) == 2 || sscanf(line, "params %255s %255s", key, value) == 2) {
            set(&r, key, value);
        } else if (sscanf(line, "n_predict %255s", value) == 1) {
            r.n_predict = atoi(value);
        } else if (strncmp(line, "prompt ", 7) == 0) {
            r.prompt = malloc(sizeof(line) / 2 * sizeof(int32_t));
            for (char * word = strtok(line + 7, " "); word != NULL; word = strtok(NULL, " ")) {
                r.prompt[r.n_prompt++] = atoi(word);
            }
        } else if (strcmp(line, "end") == 0) {
            run_case(&r, name);
        }
    }
    return 0;
}
