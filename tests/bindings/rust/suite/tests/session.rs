//! Sessions: streaming, cancelling, callbacks, errors, and what remains when they are gone.

use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

use llama_speculative::{
    ChatMessage, Error, Finish, GenParams, Outcome, Params, Piece, SeqState, Session, SessionParams,
};
use suite::{library, model, prompt_and_answer};

fn params(strategies: &str) -> SessionParams {
    SessionParams::new()
        .model(model("target-llama"))
        .n_ctx(256)
        .n_batch(64)
        .n_ubatch(64)
        .n_threads(1)
        .speculative(Params::new().strategies(strategies).n_draft_max(8))
}

fn drafting() -> SessionParams {
    params("draft-simple").model_draft(model("draft-llama"))
}

fn open(params: &SessionParams) -> Session {
    Session::open(&library(), params).expect("the session opens")
}

/// Tokens of the pieces that are left.
fn tokens(pieces: impl Iterator<Item = Result<Piece, Error>>) -> i32 {
    pieces.map(|piece| piece.unwrap().n_tokens).sum()
}

fn limit(n_predict: i32) -> GenParams {
    GenParams::new().n_predict(n_predict)
}

#[test]
fn pieces_are_the_target_s_text_with_its_accepted_tokens_marked() {
    let (prompt, answer) = prompt_and_answer(24, 64);
    let mut session = open(&drafting());
    let mut plain = open(&params("none"));
    let text = |session: &mut Session| -> String {
        let pieces = session.generate(&prompt, &limit(64)).unwrap();
        pieces.map(|piece| piece.unwrap().text).collect()
    };
    let expected = text(&mut plain);
    assert_eq!(text(&mut session), expected);
    assert_eq!(session.tokenize(&expected, false, false).unwrap(), answer);

    let pieces: Vec<_> = session
        .generate(&prompt, &limit(64).reuse_prefix(false))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let result = session.result().unwrap();
    let marked: i32 = pieces.iter().map(|piece| piece.n_tokens_draft).sum();
    assert_eq!((marked as u64, result.n_emitted), (result.n_accepted, 64));
    assert!(result.n_accepted > 0 && result.n_accepted < result.n_drafted);
    assert_eq!(result.acceptance_rate(), result.n_accepted as f64 / result.n_drafted as f64);
}

#[test]
fn the_first_piece_is_there_before_the_second_is_decoded() {
    let (prompt, _) = prompt_and_answer(24, 0);
    let mut session = open(&params("none"));
    let rounds = |session: &mut Session| session.spec().unwrap().stats(0, None).unwrap().n_rounds;
    let first = session.generate(&prompt, &limit(64)).unwrap().next();
    assert_eq!(first.unwrap().unwrap().n_tokens, 1);
    assert_eq!(rounds(&mut session), 1);
    assert_eq!(session.generate(&prompt, &limit(64)).unwrap().take(3).count(), 3);
    assert_eq!(rounds(&mut session), 4);
}

#[test]
fn a_session_goes_on_after_an_answer_that_was_left_early() {
    let (prompt, answer) = prompt_and_answer(24, 32);
    let mut session = open(&drafting());
    for piece in session.generate(&prompt, &limit(200)).unwrap().take(2) {
        piece.unwrap();
    }
    let text: String =
        session.generate(&prompt, &limit(32)).unwrap().map(|piece| piece.unwrap().text).collect();
    assert_eq!(session.tokenize(&text, false, false).unwrap(), answer);
    assert_eq!(session.result().unwrap().finish, Finish::Limit);
    assert_eq!(session.result().unwrap().n_reused, 23); // all that was evaluated of the prompt
}

#[test]
fn cancel_from_another_thread_ends_the_answer_and_the_next_one_is_whole() {
    let (prompt, _) = prompt_and_answer(24, 0);
    let mut session = open(&drafting());
    let mut pieces = session.generate(&prompt, &limit(200)).unwrap();
    pieces.next().unwrap().unwrap();
    let remote = pieces.remote();
    thread::spawn(move || remote.cancel().unwrap()).join().unwrap();
    let rest = tokens(pieces.by_ref());
    assert!(rest < 9, "{rest} tokens after the cancel: more than were ready");
    assert_eq!(pieces.outcome(), Outcome::Cancelled);
    assert_eq!(pieces.result().unwrap().finish, Finish::Cancelled);

    assert_eq!(tokens(session.generate(&prompt, &limit(20)).unwrap()), 20);
}

#[test]
fn a_remote_of_a_session_that_is_gone_says_so() {
    let session = open(&params("none"));
    let remote = session.remote();
    assert_eq!(remote.cancel(), Ok(()));
    drop(session);
    assert_eq!(remote.cancel(), Err(Error::Closed));
}

#[test]
fn remotes_may_cancel_while_the_session_closes() {
    for _ in 0..20 {
        let mut session = open(&params("none"));
        let done = Arc::new(AtomicBool::new(false));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let (remote, done) = (session.remote(), Arc::clone(&done));
                thread::spawn(
                    move || {
                        while remote.cancel().is_ok() && !done.load(Ordering::Relaxed) {}
                    },
                )
            })
            .collect();
        let (prompt, _) = prompt_and_answer(24, 0);
        // whatever the cancels hit, nothing else may go wrong
        if let Ok(pieces) = session.generate(&prompt, &limit(8)) {
            pieces.for_each(|piece| drop(piece.unwrap()));
        }
        drop(session);
        done.store(true, Ordering::Relaxed);
        others.into_iter().for_each(|other| other.join().unwrap());
    }
}

#[test]
fn a_callback_gets_the_pieces_and_may_break_off() {
    let (prompt, _) = prompt_and_answer(24, 0);
    let mut session = open(&params("none"));
    let mut count = 0;
    let (outcome, result) = session
        .generate_with(&prompt, &limit(64), |piece| {
            count += piece.n_tokens;
            if count == 5 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!((outcome, result.finish, count), (Outcome::Cancelled, Finish::Cancelled, 5));
    let go_on = |_: &_| ControlFlow::Continue(());
    let (outcome, result) = session.generate_with(&prompt, &limit(64), go_on).unwrap();
    assert_eq!((outcome, result.finish, result.n_emitted), (Outcome::End, Finish::Limit, 64));
}

#[test]
fn a_panic_in_a_piece_callback_goes_on_in_the_caller_and_the_session_is_intact() {
    let (prompt, _) = prompt_and_answer(24, 0);
    let mut session = open(&drafting());
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _ = session.generate_with(&prompt, &limit(64), |_| panic!("on purpose"));
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"on purpose"));
    assert_eq!(tokens(session.generate(&prompt, &limit(20)).unwrap()), 20);
}

#[test]
fn progress_is_reported_and_may_stop_the_opening() {
    let seen = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&seen);
    open(&params("none").progress(move |progress| {
        assert!((0.0..=1.0).contains(&progress));
        told.store(true, Ordering::Relaxed);
        ControlFlow::Continue(())
    }));
    assert!(seen.load(Ordering::Relaxed));

    let stopped = Session::open(&library(), &params("none").progress(|_| ControlFlow::Break(())));
    assert_eq!(stopped.unwrap_err(), Error::Stopped(Outcome::Cancelled));

    let panic = catch_unwind(|| {
        let _ = Session::open(&library(), &params("none").progress(|_| panic!("while loading")));
    });
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"while loading"));
}

#[test]
fn each_refusal_has_its_own_error_with_status_and_message() {
    let refused = |params: &SessionParams| Session::open(&library(), params).unwrap_err();
    let vocabulary = params("draft-simple").model_draft(model("draft-llama-bigvocab"));
    assert!(
        matches!(refused(&vocabulary), Error::Unsupported(f) if f.message.contains("vocabulary"))
    );
    assert!(matches!(refused(&params("none").model("nowhere")), Error::Model(f) if f.status == -7));
    assert!(matches!(refused(&params("draft-simpel")), Error::InvalidArgument(_)));
    assert!(matches!(refused(&params("none").grammar("root ::= (")), Error::Sampler(_)));
    let nul = refused(&params("none").device("a\0b"));
    assert!(
        matches!(&nul, Error::InvalidArgument(f) if f.message == "device holds a NUL character")
    );

    let session = open(&params("none"));
    let error = session.result().unwrap_err();
    let failure = error.failure().unwrap();
    assert!(matches!(error, Error::CallOrder(_)), "{error}");
    assert_eq!((failure.function, failure.status), ("session_result", -3));
    assert!(failure.message.contains("session_start"), "{error}");
    let messages = [ChatMessage::new("user", "hello")];
    assert!(matches!(session.chat_apply(&messages, true), Err(Error::Unsupported(_))));
}

#[test]
fn an_error_says_which_sequence_it_left_and_how() {
    let mut session = open(&params("none"));
    let error = session.generate(&[10, 1_000_000], &limit(4)).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
    assert_eq!(error.failure().unwrap().sequence, Some((0, SeqState::NeedsBegin)));

    let (prompt, _) = prompt_and_answer(24, 0);
    session.generate(&prompt, &limit(4)).unwrap().for_each(drop);
    let mut spec = session.spec().unwrap();
    let error = spec.commit(0, 1).unwrap_err();
    assert_eq!(error.failure().unwrap().sequence, Some((0, SeqState::Ready)));
}

#[test]
fn stop_strings_and_seeds_go_through() {
    let (prompt, _) = prompt_and_answer(24, 0);
    let mut session = open(&drafting());
    let whole: String =
        session.generate(&prompt, &limit(30)).unwrap().map(|piece| piece.unwrap().text).collect();
    let stop = whole.chars().skip(9).take(3).collect::<String>();
    let limits = limit(30).stops(["never", &stop]);
    let text: String =
        session.generate(&prompt, &limits).unwrap().map(|piece| piece.unwrap().text).collect();
    assert_eq!(text, whole.split(&stop).next().unwrap());
    let result = session.result().unwrap();
    assert_eq!((result.finish, result.stop_index), (Finish::Stop, 1));

    let soft = |seed| {
        let params =
            params("none").model(model("target-llama-soft")).temperature(2.0).top_k(0).seed(seed);
        let mut session = open(&params);
        let pieces = session.generate(&prompt, &limit(40)).unwrap();
        pieces.map(|piece| piece.unwrap().text).collect::<String>()
    };
    assert_eq!(soft(1), soft(1));
    assert_ne!(soft(1), soft(2));
}

#[test]
fn sessions_on_two_threads_do_not_meet() {
    let (prompt, answer) = prompt_and_answer(24, 64);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (prompt, answer) = (prompt.clone(), answer.clone());
            thread::spawn(move || {
                for _ in 0..5 {
                    let mut session = open(&drafting());
                    let pieces = session.generate(&prompt, &limit(64)).unwrap();
                    let text: String = pieces.map(|piece| piece.unwrap().text).collect();
                    assert_eq!(session.tokenize(&text, false, false).unwrap(), answer);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|it| it.join().unwrap());

    let session = open(&params("none"));
    thread::spawn(move || session.tokenize("ab", false, false).unwrap()).join().unwrap();
}
