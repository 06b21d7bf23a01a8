// Speculative decoding from C, with nothing but the C API of libllama-speculative
//
//   llama-speculative-c TARGET.gguf "PROMPT" [STRATEGIES [DRAFT.gguf]]

#include "llama-speculative.h"

#include <stdio.h>
#include <string.h>

static int on_error(const char * what, const char * why) {
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

// accepted draft tokens in brackets
static int32_t on_piece(const llama_speculative_piece * piece, void * user) {
    (void) user;
    printf(piece->n_tokens_draft > 0 ? "[%s]" : "%s", piece->text);
    fflush(stdout);
    return 0; // not 0 stops the generation
}

int main(int argc, char ** argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s TARGET.gguf PROMPT [STRATEGIES [DRAFT.gguf]]\n", argv[0]);
        return 1;
    }

    llama_speculative_params params;
    llama_speculative_params_init(&params, sizeof(params));
    params.strategies = argc > 3 ? argv[3] : "ngram-simple";

    llama_speculative_session_params sp;
    llama_speculative_session_params_init(&sp, sizeof(sp));
    sp.model       = argv[1];
    sp.model_draft = argc > 4 ? argv[4] : NULL;
    sp.n_ctx       = 2048;
    sp.speculative = &params;

    llama_speculative_session * session = NULL;
    if (llama_speculative_session_open(&sp, &session) < 0) {
        return on_error("session_open", llama_speculative_last_error(NULL));
    }

    int32_t tokens[1024];
    size_t  n_tokens = 0;
    if (llama_speculative_session_tokenize(session, argv[2], 1, 1, tokens, 1024, &n_tokens) < 0) {
        on_error("session_tokenize", llama_speculative_session_last_error(session));
        llama_speculative_session_close(session);
        return 1;
    }

    llama_speculative_gen_params gp;
    llama_speculative_gen_params_init(&gp, sizeof(gp));
    gp.n_predict = 128;

    llama_speculative_gen_result result;
    memset(&result, 0, sizeof(result));
    result.struct_size = sizeof(result);

    const int32_t status = llama_speculative_session_generate(session, tokens, n_tokens, &gp, on_piece, NULL, &result);
    if (status < 0) {
        on_error("session_generate", llama_speculative_session_last_error(session));
    } else {
        printf("\n\n%d tokens, drafted %d, accepted %d, %.2f s\n", (int) result.n_emitted, (int) result.n_drafted, (int) result.n_accepted, 1e-6*(double) result.t_generate_us);
    }
    llama_speculative_session_close(session);
    return status < 0 ? 1 : 0;
}
