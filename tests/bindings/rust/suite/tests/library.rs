//! Loading and checking the library, and the defaults.

use llama_speculative::{sys, Error, GenParams, Library, Params, Session, SessionParams};
use suite::{library, model, variable};

#[test]
fn the_library_says_what_it_was_built_from() {
    let details = library().build_info().unwrap();
    assert_eq!(details.abi_version, library().abi_version());
    assert!(details.llama_commit.len() >= 7, "{details:?}");
    assert!(details.backends.contains("CPU"), "{details:?}");
    assert_eq!(library().status_name(-5), "ERROR_UNSUPPORTED");
}

#[test]
fn a_moved_field_is_named_although_the_size_is_the_same() {
    let error = Library::open(variable("LLAMA_SPECULATIVE_DOCTORED")).unwrap_err();
    let Error::Layout(mismatches) = &error else { panic!("{error}") };
    let items: Vec<_> = mismatches.iter().map(|mismatch| mismatch.item.as_str()).collect();
    assert_eq!(items, ["counters.n_drafted", "counters.n_accepted"]);
    let text = error.to_string();
    assert!(
        text.contains(
            "counters.n_drafted: offset 24, size 8 in this crate, offset 32, size 8 in the library"
        ),
        "{text}"
    );
}

#[test]
fn another_library_with_the_same_names_does_no_harm() {
    // it is loaded first and offers its symbols to everybody
    let other = std::ffi::CString::new(variable("LLAMA_SPECULATIVE_DOCTORED")).unwrap();
    extern "C" {
        fn dlopen(path: *const std::ffi::c_char, flags: i32) -> *mut std::ffi::c_void;
    }
    const RTLD_NOW_GLOBAL: i32 = 0x102;
    // SAFETY: it ends in 0.
    assert!(!unsafe { dlopen(other.as_ptr(), RTLD_NOW_GLOBAL) }.is_null());
    let library = Library::open(variable("LLAMA_SPECULATIVE_LIB")).unwrap();
    assert_eq!(library.status_name(0), "OK"); // the other one ends the process instead
    let params = SessionParams::new().model(model("target-llama")).n_ctx(64).n_threads(1);
    let mut session = Session::open(&library, &params).unwrap();
    let limits = GenParams::new().n_predict(4);
    assert_eq!(session.generate(&[10], &limits).unwrap().count(), 4);
}

#[test]
fn a_library_that_is_not_there_is_an_error_with_its_path() {
    let Err(Error::Load { path, reason }) = Library::open("/nowhere/lib.so") else { panic!() };
    assert_eq!(path.to_str(), Some("/nowhere/lib.so"));
    assert!(reason.contains("No such file"), "{reason}");
    // a library without the functions
    let Err(Error::Load { reason, .. }) = Library::open(variable("LLAMA_SPECULATIVE_OTHER")) else {
        panic!()
    };
    assert_eq!(reason, "it has no function llama_speculative_abi_version");
}

macro_rules! assert_same {
    ($ours:expr, $theirs:expr, $($field:ident),+) => {
        $(assert_eq!(f64::from($ours.$field), f64::from($theirs.$field), stringify!($field));)+
    };
}

#[test]
fn defaults_are_the_library_s_own() {
    let library = library();
    let functions = library.functions();
    let mut theirs = sys::llama_speculative_params::default();
    let mut session = sys::llama_speculative_session_params::default();
    let mut gen = sys::llama_speculative_gen_params::default();
    // SAFETY: structs of the size that is given.
    unsafe {
        assert_eq!((functions.params_init)(&mut theirs, size_of_val(&theirs)), 0);
        assert_eq!((functions.session_params_init)(&mut session, size_of_val(&session)), 0);
        assert_eq!((functions.gen_params_init)(&mut gen, size_of_val(&gen)), 0);
    }
    assert_same!(
        Params::new(),
        theirs,
        n_draft_max,
        n_draft_min,
        p_min,
        backend_sampling,
        ngram_simple_n,
        ngram_simple_m,
        ngram_map_k_n,
        ngram_map_k_m,
        ngram_map_k4v_n,
        ngram_map_k4v_m,
        ngram_map_k4v_min_hits,
        ngram_mod_n_match,
        ngram_mod_n_max,
        ngram_mod_n_min
    );
    // SAFETY: a text of the library.
    let strategies = unsafe { std::ffi::CStr::from_ptr(theirs.strategies) };
    assert_eq!(strategies.to_str(), Ok(Params::new().strategies.as_str()));
    assert_same!(
        SessionParams::new(),
        session,
        n_ctx,
        n_batch,
        n_ubatch,
        n_seq_max,
        n_threads,
        n_threads_batch,
        n_gpu_layers,
        n_gpu_layers_draft,
        seed,
        temperature,
        top_k,
        top_p,
        min_p,
        penalty_last_n,
        penalty_repeat,
        penalty_freq,
        penalty_present
    );
    assert_same!(GenParams::new(), gen, seq_id, n_predict, reuse_prefix);
}
