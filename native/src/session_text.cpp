// Between text and tokens, by the target's vocabulary and chat template.
#include "impl.h"
#include "session.h"

#include <algorithm>
#include <cstring>

namespace spb::impl {

int32_t session_tokenize(session & s, const char * text, int32_t add_special, int32_t parse_special, int32_t * out, size_t capacity, size_t * n_out) {
    const llama_vocab * vocab  = s.sp->vocab;
    const auto          length = (int32_t) std::strlen(text);
    llama_tokens        tokens((size_t) length + 8);
    int32_t             n = llama_tokenize(vocab, text, length, tokens.data(), (int32_t) tokens.size(), add_special != 0, parse_special != 0);
    if (n < 0) {
        tokens.resize((size_t) -n);
        n = llama_tokenize(vocab, text, length, tokens.data(), (int32_t) tokens.size(), add_special != 0, parse_special != 0);
    }
    *n_out = (size_t) n;
    if (capacity < *n_out) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "the text has %d tokens, but there is room for %zu", n, capacity);
    }
    std::copy(tokens.begin(), tokens.begin() + n, out);
    return abi::OK;
}

int32_t session_piece(session & s, int32_t token, int32_t special, uint8_t * out, size_t capacity, size_t * n_out) {
    if (token >= s.sp->n_vocab) {
        fail(abi::ERROR_INVALID_ARGUMENT, "token is %d, but the vocabulary has tokens 0 to %d", token, s.sp->n_vocab - 1);
    }
    const std::string text = common_token_to_piece(s.sp->vocab, token, special != 0);
    *n_out                 = text.size();
    if (capacity < text.size()) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "token %d has %zu bytes, but there is room for %zu", token, text.size(), capacity);
    }
    std::copy(text.begin(), text.end(), out);
    return abi::OK;
}

int32_t session_chat_apply(session & s, const abi::chat_message * messages, size_t n_messages, int32_t add_assistant, uint8_t * out, size_t capacity,
                           size_t * n_out) {
    const char * chat_template = llama_model_chat_template(s.model.get(), nullptr);
    if (!chat_template) {
        fail(abi::ERROR_UNSUPPORTED, "the model has no chat template: write the prompt yourself");
    }
    std::vector<llama_chat_message> chat(n_messages);
    size_t                          length = 256;
    for (size_t i = 0; i < n_messages; ++i) {
        chat[i] = {messages[i].role, messages[i].content};
        length += 2 * (std::strlen(messages[i].role) + std::strlen(messages[i].content)) + 64;
    }
    std::string text(length, '\0');
    int32_t     n = llama_chat_apply_template(chat_template, chat.data(), chat.size(), add_assistant != 0, text.data(), (int32_t) text.size());
    if (n > (int32_t) text.size()) {
        text.resize((size_t) n);
        n = llama_chat_apply_template(chat_template, chat.data(), chat.size(), add_assistant != 0, text.data(), (int32_t) text.size());
    }
    if (n < 0) {
        fail(abi::ERROR_UNSUPPORTED, "llama.cpp does not know the chat template of this model: write the prompt yourself");
    }
    *n_out = (size_t) n;
    if (capacity < *n_out) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "the prompt has %d bytes, but there is room for %zu", n, capacity);
    }
    std::copy(text.begin(), text.begin() + n, out);
    return abi::OK;
}

} // namespace spb::impl
