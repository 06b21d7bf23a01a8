//! What sessions leave behind. Memory is counted for the whole process: hence a test program with nothing else in it.

use llama_speculative::{GenParams, Params, Session, SessionParams};
use suite::{library, model, prompt_and_answer};

/// Resident memory in pages.
fn resident() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_sessions_leave_no_memory_behind() {
    let (prompt, _) = prompt_and_answer(4, 0);
    let params = SessionParams::new()
        .model(model("target-llama"))
        .model_draft(model("draft-llama"))
        .n_ctx(32)
        .n_batch(16)
        .n_ubatch(16)
        .n_threads(1)
        .speculative(Params::new().strategies("draft-simple").n_draft_max(8));
    let cycle = || {
        let mut session = Session::open(&library(), &params).unwrap();
        session
            .generate(&prompt, &GenParams::new().n_predict(4))
            .unwrap()
            .for_each(|piece| drop(piece.unwrap()));
    };
    (0..200).for_each(|_| cycle());
    let before = resident();
    (0..1000).for_each(|_| cycle());
    let grown = resident() - before;
    assert!(grown < 1024, "{grown} pages more after 1000 sessions"); // a byte lost per kilobyte of context would be more
}
