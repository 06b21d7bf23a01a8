// Package suite tests the generated Go module with the real library.
//
// This file is what the tests and the runner of the shared cases have in common: the oracle models, and llama.cpp through
// the test helper. The helper stands for whatever binding of llama.cpp a user has: it makes models and contexts of its
// own, and the suite hands their addresses to the package under test.
package suite

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t swa_full, kv_unified, embeddings, type_v_q8_0, flash_attn;
} options;

static void * helper;

static int open_helper(const char * path) {
    helper = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (helper) {
        ((void (*)(void)) dlsym(helper, "helper_start"))();
    }
    return helper != NULL;
}

static int open_for_all(const char * path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL; }

#define CALL(result, name, parameters) ((result (*) parameters) dlsym(helper, name))

static void * model_load(const char * path, int32_t mtp) { return CALL(void *, "helper_model_load", (const char *, int32_t))(path, mtp); }
static void model_free(void * model) { CALL(void, "llama_model_free", (void *))(model); }
static void * context_new(void * model, const options * o) { return CALL(void *, "helper_context_new", (void *, const options *))(model, o); }
static void context_free(void * ctx) { CALL(void, "llama_free", (void *))(ctx); }
static int32_t n_vocab(void * model) { return CALL(int32_t, "helper_n_vocab", (void *))(model); }
static int32_t decode(void * ctx, int32_t n, const int32_t * token, const int32_t * pos, const int32_t * seq, const int8_t * output) {
    return CALL(int32_t, "helper_decode", (void *, int32_t, const int32_t *, const int32_t *, const int32_t *, const int8_t *))(ctx, n, token, pos, seq, output);
}
static const float * logits(void * ctx, int32_t i) { return CALL(const float *, "helper_logits", (void *, int32_t))(ctx, i); }
static void seq_rm(void * ctx, int32_t seq, int32_t p0, int32_t p1) { CALL(int32_t, "helper_seq_rm", (void *, int32_t, int32_t, int32_t))(ctx, seq, p0, p1); }
static void * rogue_new(int32_t throws_at) {
    void * chain = CALL(void *, "helper_chain", (void))();
    CALL(void, "helper_add_rogue", (void *, int32_t, int32_t))(chain, throws_at, 1);
    return chain;
}
static void sampler_free(void * smpl) { CALL(void, "llama_sampler_free", (void *))(smpl); }
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"llamaspeculative"
)

// Variable is an environment variable that pytest sets.
func Variable(name string) string {
	value := os.Getenv(name)
	if value == "" {
		panic(name + " is not set: run these tests with pytest")
	}
	return value
}

// Library is the library under test.
var Library = sync.OnceValue(func() *llamaspeculative.Library {
	library, err := llamaspeculative.Load("")
	if err != nil {
		panic(err)
	}
	return library
})

// ModelPath is the path of an oracle model.
func ModelPath(name string) string {
	return filepath.Join(Variable("LLAMA_SPECULATIVE_MODELS"), name+".gguf")
}

// PromptAndAnswer is a prompt along the oracle's cycle, and the tokens with which every oracle target goes on.
func PromptAndAnswer(length, n int) (prompt, answer []int32) {
	next := strings.Fields(Variable("LLAMA_SPECULATIVE_NEXT"))
	all := []int32{10}
	for len(all) < length+n {
		token, err := strconv.Atoi(next[all[len(all)-1]])
		if err != nil {
			panic(err)
		}
		all = append(all, int32(token))
	}
	return all[:length], all[length:]
}

// OpenForAll loads a library and offers its symbols to everybody.
func OpenForAll(path string) bool {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return C.open_for_all(name) != 0
}

var start = sync.OnceFunc(func() {
	name := C.CString(Variable("LLAMA_SPECULATIVE_HELPER"))
	defer C.free(unsafe.Pointer(name))
	if C.open_helper(name) == 0 {
		panic("the helper does not load")
	}
})

// Model is a model of the user's own.
type Model struct{ pointer unsafe.Pointer }

// LoadModel loads a GGUF.
func LoadModel(path string, mtp bool) (*Model, error) {
	start()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	flag := C.int32_t(0)
	if mtp {
		flag = 1
	}
	pointer := C.model_load(name, flag)
	if pointer == nil {
		return nil, fmt.Errorf("%s does not load", path)
	}
	return &Model{pointer}, nil
}

// Get is its address for the package under test; a nil model is none.
func (m *Model) Get() llamaspeculative.LlamaModel {
	if m == nil {
		return llamaspeculative.LlamaModel{}
	}
	return llamaspeculative.LlamaModelAt(m.pointer)
}

// Free releases it.
func (m *Model) Free() {
	if m != nil {
		C.model_free(m.pointer)
	}
}

// Options of a context.
type Options struct{ NCtx, NBatch, NUbatch, NSeqMax, NRSSeq int32 }

// Context is a context of the user's own.
type Context struct {
	pointer unsafe.Pointer
	model   *Model
}

// NewContext makes a context; what is 0 has a default.
func NewContext(model *Model, o Options) *Context {
	or := func(value, otherwise int32) C.int32_t {
		if value == 0 {
			return C.int32_t(otherwise)
		}
		return C.int32_t(value)
	}
	given := C.options{
		n_ctx: or(o.NCtx, 512), n_batch: or(o.NBatch, 64), n_ubatch: or(o.NUbatch, 64), n_seq_max: or(o.NSeqMax, 1),
		n_rs_seq: C.int32_t(o.NRSSeq), n_outputs_max_per_seq: 1, swa_full: 1, flash_attn: -1,
	}
	pointer := C.context_new(model.pointer, &given)
	if pointer == nil {
		panic("no context")
	}
	return &Context{pointer, model}
}

// Get is its address for the package under test.
func (c *Context) Get() llamaspeculative.LlamaContext {
	return llamaspeculative.LlamaContextAt(c.pointer)
}

// Free releases it.
func (c *Context) Free() { C.context_free(c.pointer) }

// Decode evaluates tokens of sequence 0 from pos0 on, all with an output, and returns their positions and output flags.
func (c *Context) Decode(tokens []int32, pos0 int32) (pos []int32, output []int8) {
	pos, output = make([]int32, len(tokens)), make([]int8, len(tokens))
	for i := range tokens {
		pos[i], output[i] = pos0+int32(i), 1
	}
	seq := make([]int32, len(tokens))
	array := func(values []int32) *C.int32_t { return (*C.int32_t)(&values[0]) }
	if C.decode(c.pointer, C.int32_t(len(tokens)), array(tokens), array(pos), array(seq), (*C.int8_t)(&output[0])) != 0 {
		panic("llama_decode failed")
	}
	return pos, output
}

// Greedy is the target's token after token index of the last batch.
func (c *Context) Greedy(index int) int32 {
	row := unsafe.Slice((*float32)(unsafe.Pointer(C.logits(c.pointer, C.int32_t(index)))), C.n_vocab(c.model.pointer))
	return Argmax(row)
}

// RemoveFrom removes sequence 0 from pos0 on.
func (c *Context) RemoveFrom(pos0 int32) { C.seq_rm(c.pointer, 0, C.int32_t(pos0), -1) }

// Argmax is the index of the largest value.
func Argmax(row []float32) int32 {
	best := 0
	for i, value := range row {
		if value > row[best] {
			best = i
		}
	}
	return int32(best)
}

// Rogue is a sampler of the user's own that throws at its n-th token.
func Rogue(throwsAt int32) (sampler llamaspeculative.LlamaSampler, free func()) {
	start()
	pointer := C.rogue_new(C.int32_t(throwsAt))
	return llamaspeculative.LlamaSamplerAt(pointer), func() { C.sampler_free(pointer) }
}
