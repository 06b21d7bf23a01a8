//! What the tests and the runner share: the oracle models, and llama.cpp through the test helper.
//!
//! The helper stands for whatever binding of llama.cpp a user has: it makes models and contexts of its own, and this
//! suite hands their addresses to the crate under test.

use std::env;
use std::ffi::{c_char, c_void, CString};
use std::mem::transmute_copy;
use std::path::PathBuf;
use std::sync::OnceLock;

use llama_speculative::{sys, Library, LlamaContext, LlamaModel};

/// A variable that pytest sets.
pub fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests with pytest"))
}

/// The library under test.
pub fn library() -> Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::load().expect("the library loads")).clone()
}

/// Path of an oracle model.
pub fn model(name: &str) -> String {
    let path = PathBuf::from(variable("LLAMA_SPECULATIVE_MODELS")).join(format!("{name}.gguf"));
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// `n` tokens along the oracle's cycle from `start`.
pub fn along(start: i32, n: usize) -> Vec<i32> {
    let table = variable("LLAMA_SPECULATIVE_NEXT");
    let next: Vec<i32> = table.split(' ').map(|token| token.parse().expect("a token")).collect();
    std::iter::successors(Some(start), |&token| Some(next[token as usize])).take(n).collect()
}

/// A prompt, and the `n` tokens with which every oracle target goes on.
pub fn prompt_and_answer(length: usize, n: usize) -> (Vec<i32>, Vec<i32>) {
    let all = along(10, length + n);
    (all[..length].to_vec(), all[length..].to_vec())
}

/// Options of a context, as the helper has them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ContextOptions {
    pub n_ctx: i32,
    pub n_batch: i32,
    pub n_ubatch: i32,
    pub n_seq_max: i32,
    pub n_rs_seq: i32,
    pub n_outputs_max: i32,
    pub n_outputs_max_per_seq: i32,
    pub swa_full: i32,
    pub kv_unified: i32,
    pub embeddings: i32,
    pub type_v_q8_0: i32,
    pub flash_attn: i32,
}

impl Default for ContextOptions {
    fn default() -> Self {
        Self {
            n_ctx: 512,
            n_batch: 64,
            n_ubatch: 64,
            n_seq_max: 1,
            n_rs_seq: 0,
            n_outputs_max: 0,
            n_outputs_max_per_seq: 1,
            swa_full: 1,
            kv_unified: 0,
            embeddings: 0,
            type_v_q8_0: 0,
            flash_attn: -1,
        }
    }
}

type Pointer = *mut c_void;

/// The functions of the helper, and those of libllama behind it.
pub struct Helper {
    model_load: unsafe extern "C" fn(*const c_char, i32) -> Pointer,
    model_free: unsafe extern "C" fn(Pointer),
    context_new: unsafe extern "C" fn(Pointer, *const ContextOptions) -> Pointer,
    context_free: unsafe extern "C" fn(Pointer),
    n_vocab: unsafe extern "C" fn(Pointer) -> i32,
    decode:
        unsafe extern "C" fn(Pointer, i32, *const i32, *const i32, *const i32, *const i8) -> i32,
    logits: unsafe extern "C" fn(Pointer, i32) -> *const f32,
    seq_rm: unsafe extern "C" fn(Pointer, i32, i32, i32) -> i32,
    chain: unsafe extern "C" fn() -> Pointer,
    add_rogue: unsafe extern "C" fn(Pointer, i32, i32),
    sampler_free: unsafe extern "C" fn(Pointer),
}

impl Helper {
    pub fn get() -> &'static Self {
        static HELPER: OnceLock<Helper> = OnceLock::new();
        HELPER.get_or_init(|| {
            let path = CString::new(variable("LLAMA_SPECULATIVE_HELPER")).expect("a path");
            // SAFETY: it ends in 0.
            let module = unsafe { sys::Module::open(path.as_ptr()) }.expect("the helper loads");
            // SAFETY: the helper's own signatures.
            unsafe {
                let start: unsafe extern "C" fn() = function(&module, "helper_start");
                start();
                Self {
                    model_load: function(&module, "helper_model_load"),
                    model_free: function(&module, "llama_model_free"),
                    context_new: function(&module, "helper_context_new"),
                    context_free: function(&module, "llama_free"),
                    n_vocab: function(&module, "helper_n_vocab"),
                    decode: function(&module, "helper_decode"),
                    logits: function(&module, "helper_logits"),
                    seq_rm: function(&module, "helper_seq_rm"),
                    chain: function(&module, "helper_chain"),
                    add_rogue: function(&module, "helper_add_rogue"),
                    sampler_free: function(&module, "llama_sampler_free"),
                }
            }
        })
    }
}

unsafe fn function<F>(module: &sys::Module, name: &str) -> F {
    let address = module.symbol(&CString::new(name).expect("a name"));
    assert!(!address.is_null(), "the helper has no {name}");
    // SAFETY: as the caller promises.
    unsafe { transmute_copy(&address) }
}

/// A model of the user's own.
pub struct Model(Pointer);

impl Model {
    pub fn load(path: &str, load_mtp: bool) -> Option<Self> {
        let path = CString::new(path).expect("a path");
        // SAFETY: it ends in 0.
        let model = unsafe { (Helper::get().model_load)(path.as_ptr(), i32::from(load_mtp)) };
        (!model.is_null()).then_some(Self(model))
    }

    pub fn get(&self) -> LlamaModel<'_> {
        // SAFETY: it lives as long as self.
        unsafe { LlamaModel::from_raw(self.0.cast()) }.expect("a model")
    }

    fn n_vocab(&self) -> usize {
        // SAFETY: it lives.
        unsafe { (Helper::get().n_vocab)(self.0) as usize }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: ours, and its contexts borrowed it.
        unsafe { (Helper::get().model_free)(self.0) }
    }
}

/// A context of the user's own.
pub struct Context<'m> {
    pointer: Pointer,
    model: &'m Model,
}

impl<'m> Context<'m> {
    pub fn new(model: &'m Model, options: ContextOptions) -> Self {
        // SAFETY: the model lives.
        let pointer = unsafe { (Helper::get().context_new)(model.0, &options) };
        assert!(!pointer.is_null(), "no context");
        Self { pointer, model }
    }

    pub fn get(&self) -> LlamaContext<'_> {
        // SAFETY: it lives as long as self, and every test uses its own.
        unsafe { LlamaContext::from_raw(self.pointer.cast()) }.expect("a context")
    }

    /// Evaluates tokens of sequence 0 from `pos0` on, all with an output.
    pub fn decode(&self, tokens: &[i32], pos0: i32) {
        let pos: Vec<i32> = (pos0..).take(tokens.len()).collect();
        let (seq, output) = (vec![0; tokens.len()], vec![1; tokens.len()]);
        // SAFETY: arrays of that length.
        let status = unsafe {
            (Helper::get().decode)(
                self.pointer,
                tokens.len() as i32,
                tokens.as_ptr(),
                pos.as_ptr(),
                seq.as_ptr(),
                output.as_ptr(),
            )
        };
        assert_eq!(status, 0, "llama_decode failed");
    }

    /// The target's token after token `index` of the last batch.
    pub fn greedy(&self, index: usize) -> i32 {
        // SAFETY: the row has as many values as the vocabulary.
        let row = unsafe {
            let row = (Helper::get().logits)(self.pointer, index as i32);
            std::slice::from_raw_parts(row, self.model.n_vocab())
        };
        let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.expect("a vocabulary").0 as i32
    }

    /// Removes sequence 0 from `pos0` on.
    pub fn remove_from(&self, pos0: i32) {
        // SAFETY: it lives.
        unsafe { (Helper::get().seq_rm)(self.pointer, 0, pos0, -1) };
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and what was made on it borrowed it.
        unsafe { (Helper::get().context_free)(self.pointer) }
    }
}

/// A sampler of the user's own that throws at its `throws_at`-th token.
pub struct Rogue(Pointer);

impl Rogue {
    pub fn new(throws_at: i32) -> Self {
        // SAFETY: the chain owns what is added.
        unsafe {
            let chain = (Helper::get().chain)();
            (Helper::get().add_rogue)(chain, throws_at, 1);
            Self(chain)
        }
    }

    pub fn as_ptr(&self) -> *mut sys::llama_sampler {
        self.0.cast()
    }
}

impl Drop for Rogue {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { (Helper::get().sampler_free)(self.0) }
    }
}
