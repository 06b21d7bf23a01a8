// libllama-speculative from C: refusals without a model; with one, the same tokens with and without drafts
//
//   test-speculative-c-api [TARGET.gguf]

#include "llama-speculative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                \
        }                                                           \
    } while (0)

#define N_PREDICT 64

struct answer {
    int32_t tokens[N_PREDICT + 64];
    size_t  n_tokens;
    struct llama_speculative_gen_result result;
};

static void test_without_model(void) {
    CHECK(llama_speculative_abi_version() == LLAMA_SPECULATIVE_VERSION);
    CHECK(strcmp(llama_speculative_status_name(LLAMA_SPECULATIVE_CONTEXT_FULL), "CONTEXT_FULL") == 0);

    llama_speculative_build_details details;
    memset(&details, 0, sizeof(details));
    details.struct_size = sizeof(details);
    CHECK(llama_speculative_build_info(&details) == LLAMA_SPECULATIVE_OK);
    CHECK(strcmp(details.llama_version_built, details.llama_version_loaded) == 0);

    // the table that bindings compare with their own view
    llama_speculative_identity_entry entry;
    size_t n = 0;
    int found = 0;
    for (;;) {
        memset(&entry, 0, sizeof(entry));
        entry.struct_size = sizeof(entry);
        if (llama_speculative_identity_get(n, &entry) != LLAMA_SPECULATIVE_OK) {
            break;
        }
        n++;
        if (strcmp(entry.owner, "gen_params") == 0 && strcmp(entry.item, "n_predict") == 0) {
            CHECK(entry.offset == offsetof(struct llama_speculative_gen_params, n_predict));
            found = 1;
        }
    }
    CHECK(n > 100 && found);

    llama_speculative_params params;
    CHECK(llama_speculative_params_init(&params, sizeof(params)) == LLAMA_SPECULATIVE_OK);
    CHECK(strcmp(params.strategies, "none") == 0);
    CHECK(llama_speculative_params_init(&params, 3) == LLAMA_SPECULATIVE_ERROR_INVALID_ARGUMENT);

    // wrong input is an error with a reason, never an abort
    llama_speculative * spec = NULL;
    CHECK(llama_speculative_init(NULL, NULL, &params, &spec) == LLAMA_SPECULATIVE_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(llama_speculative_last_error(NULL), "ctx_tgt is NULL") != NULL);
    CHECK(spec == NULL);

    llama_speculative_session_params sp;
    llama_speculative_session * session = NULL;
    CHECK(llama_speculative_session_params_init(&sp, sizeof(sp)) == LLAMA_SPECULATIVE_OK);
    sp.model = "no-such-file.gguf";
    CHECK(llama_speculative_session_open(&sp, &session) == LLAMA_SPECULATIVE_ERROR_MODEL);
    CHECK(strstr(llama_speculative_last_error(NULL), "no-such-file.gguf") != NULL);

    params.strategies = "ngram-simpel";
    sp.speculative    = &params;
    CHECK(llama_speculative_session_open(&sp, &session) == LLAMA_SPECULATIVE_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(llama_speculative_last_error(NULL), "ngram-simpel") != NULL);

    llama_speculative_free(NULL);
    llama_speculative_session_close(NULL);
}

static void generate(const char * model, const char * strategies, struct answer * out) {
    llama_speculative_params params;
    CHECK(llama_speculative_params_init(&params, sizeof(params)) == LLAMA_SPECULATIVE_OK);
    params.strategies     = strategies;
    params.ngram_simple_n = 3;
    params.ngram_simple_m = 8;

    llama_speculative_session_params sp;
    CHECK(llama_speculative_session_params_init(&sp, sizeof(sp)) == LLAMA_SPECULATIVE_OK);
    sp.model       = model;
    sp.n_ctx       = 512;
    sp.speculative = &params;

    llama_speculative_session * session = NULL;
    if (llama_speculative_session_open(&sp, &session) != LLAMA_SPECULATIVE_OK) {
        fprintf(stderr, "%s\n", llama_speculative_last_error(NULL));
        exit(1);
    }

    const char * prompt = "one two three four five six seven eight one two three four five six seven eight one two three";
    int32_t tokens[256];
    size_t  n_tokens = 0;
    CHECK(llama_speculative_session_tokenize(session, prompt, 1, 0, tokens, 256, &n_tokens) == LLAMA_SPECULATIVE_OK);

    llama_speculative_gen_params gp;
    CHECK(llama_speculative_gen_params_init(&gp, sizeof(gp)) == LLAMA_SPECULATIVE_OK);
    gp.n_predict = N_PREDICT;
    CHECK(llama_speculative_session_start(session, tokens, n_tokens, &gp) == LLAMA_SPECULATIVE_OK);

    // round by round, to see the tokens and not only the text
    llama_speculative_handles handles;
    memset(&handles, 0, sizeof(handles));
    handles.struct_size = sizeof(handles);
    CHECK(llama_speculative_session_handles(session, &handles) == LLAMA_SPECULATIVE_OK);
    out->n_tokens = 0;
    while (llama_speculative_decode(handles.spec, NULL) == LLAMA_SPECULATIVE_OK) {
        size_t n = 0;
        CHECK(llama_speculative_get_accepted_tokens(handles.spec, 0, out->tokens + out->n_tokens, N_PREDICT + 64 - out->n_tokens, &n) == LLAMA_SPECULATIVE_OK);
        CHECK(llama_speculative_commit(handles.spec, 0, (int32_t) n) == LLAMA_SPECULATIVE_OK);
        out->n_tokens += n;
    }
    memset(&out->result, 0, sizeof(out->result));
    out->result.struct_size = sizeof(out->result);
    llama_speculative_counters counters;
    memset(&counters, 0, sizeof(counters));
    counters.struct_size = sizeof(counters);
    CHECK(llama_speculative_stats(handles.spec, 0, NULL, &counters) == LLAMA_SPECULATIVE_OK);
    out->result.n_drafted  = counters.n_drafted;
    out->result.n_accepted = counters.n_accepted;
    llama_speculative_session_close(session);
}

static void test_with_model(const char * model) {
    static struct answer plain, drafted;
    generate(model, "none", &plain);
    generate(model, "ngram-simple", &drafted);
    printf("%d tokens, drafted %d, accepted %d\n", (int) drafted.n_tokens, (int) drafted.result.n_drafted, (int) drafted.result.n_accepted);
    CHECK(plain.n_tokens > 0);
    CHECK(plain.n_tokens == drafted.n_tokens);
    CHECK(memcmp(plain.tokens, drafted.tokens, plain.n_tokens*sizeof(int32_t)) == 0);
    CHECK(plain.result.n_drafted == 0);
    CHECK(drafted.result.n_accepted <= drafted.result.n_drafted);
}

int main(int argc, char ** argv) {
    test_without_model();
    if (argc > 1) {
        test_with_model(argv[1]);
    }
    printf("OK\n");
    return 0;
}
