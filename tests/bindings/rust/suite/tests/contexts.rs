//! The loop and the primitives on contexts that the user made, given by address.

use llama_speculative::{
    Batch, Error, HiddenMode, LlamaSampler, Outcome, OwnedLlamaContext, Params, Rollback, SeqState,
    Spec, SEQ_ALL,
};
use suite::{library, model, prompt_and_answer, Context, ContextOptions, Model, Rogue};

fn params() -> Params {
    Params::new().strategies("draft-simple").n_draft_max(8)
}

/// Runs `body` with a spec on contexts of the user's own.
fn with_spec(params: &Params, options: ContextOptions, body: impl FnOnce(Spec<'_>)) {
    let library = library();
    let target = Model::load(&model("target-llama"), false).unwrap();
    let draft = Model::load(&model("draft-llama"), false).unwrap();
    let context = Context::new(&target, options);
    let made = library.draft_context_init(context.get(), Some(draft.get()), params).unwrap();
    let lent = made.as_ref().map(OwnedLlamaContext::get);
    body(Spec::new(&library, context.get(), lent, params).unwrap());
}

fn rounds(spec: &mut Spec<'_>, n: i32) -> Vec<i32> {
    let mut emitted = Vec::new();
    spec.seq_set_limits(0, -1, n).unwrap();
    while spec.decode(None).unwrap() == Outcome::Done {
        emitted.extend(spec.accepted_tokens(0).unwrap());
    }
    emitted
}

#[test]
fn requirements_say_what_the_contexts_must_be_like() {
    let target = Model::load(&model("target-llama"), false).unwrap();
    let hybrid = Model::load(&model("hybrid-qwen35"), false).unwrap();
    let draft = Model::load(&model("draft-llama"), false).unwrap();
    let needs = library().requirements(target.get(), Some(draft.get()), &params()).unwrap();
    assert!(needs.needs_draft_model && needs.needs_draft_context && !needs.load_mtp);
    assert_eq!((needs.rollback, needs.n_draft_max), (Rollback::Remove, 8));
    let needs = library().requirements(hybrid.get(), Some(draft.get()), &params()).unwrap();
    assert_eq!((needs.rollback, needs.n_rs_seq), (Rollback::Snapshots, 8));
}

#[test]
fn a_part_of_a_round_is_kept_and_the_rest_taken_back_everywhere() {
    let (prompt, answer) = prompt_and_answer(24, 80);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        let mut emitted = Vec::new();
        for keep in [1, 2, 3] {
            while {
                assert_eq!(spec.decode(None), Ok(Outcome::Done));
                let tokens = spec.accepted_tokens(0).unwrap();
                emitted.extend(&tokens[..keep.min(tokens.len())]);
                spec.commit(0, keep.min(tokens.len()) as i32).unwrap();
                tokens.len() <= keep
            } {}
        }
        let n = 80 - emitted.len() as i32;
        emitted.extend(rounds(&mut spec, n));
        assert_eq!(emitted, answer);
    });
}

#[test]
fn a_shared_prefix_is_kept_and_a_copy_goes_on_by_itself() {
    let (prompt, answer) = prompt_and_answer(24, 40);
    let options = ContextOptions { n_seq_max: 2, n_ctx: 1024, ..ContextOptions::default() };
    with_spec(&params(), options, |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        assert_eq!(rounds(&mut spec, 40), answer);
        spec.seq_truncate(0, 24).unwrap();
        assert_eq!(spec.seq_info(0).unwrap().n_tokens, 24);
        spec.seq_copy(0, 1).unwrap();
        assert_eq!(spec.seq_info(1).unwrap().n_tokens, 24);
        spec.seq_set_limits(1, -1, 0).unwrap();
        assert_eq!(rounds(&mut spec, 40), answer);
        spec.seq_clear(SEQ_ALL).unwrap();
        assert_eq!(spec.seq_info(1).unwrap().state, SeqState::NeedsBegin);
    });
}

#[test]
fn a_saved_state_goes_on_in_another_spec_and_a_damaged_one_is_refused() {
    let (prompt, answer) = prompt_and_answer(24, 60);
    let mut saved = Vec::new();
    let mut first = Vec::new();
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        first = rounds(&mut spec, 30);
        saved = spec.state_save(0).unwrap();
    });
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        let cut = spec.state_load(0, &saved[..saved.len() / 2]);
        assert!(
            matches!(&cut, Err(Error::State(f)) if f.sequence == Some((0, SeqState::NeedsBegin)))
        );
        assert_eq!(spec.state_load(0, &saved), Ok(Outcome::Done));
        first.extend(rounds(&mut spec, 30));
        assert_eq!(first, answer);
    });
}

#[test]
fn an_open_round_is_an_error_of_its_own() {
    let (prompt, _) = prompt_and_answer(24, 0);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        spec.decode(None).unwrap();
        assert!(matches!(spec.state_save(0), Err(Error::RoundOpen(_))));
        assert!(matches!(spec.seq_truncate(0, 3), Err(Error::RoundOpen(_))));
        spec.commit(0, 1).unwrap();
        spec.state_save(0).unwrap();
    });
}

#[test]
fn logits_of_an_accepted_token_choose_it() {
    let (prompt, _) = prompt_and_answer(24, 0);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        spec.decode(None).unwrap();
        let tokens = spec.accepted_tokens(0).unwrap();
        assert!(tokens.len() > 1);
        for (index, &token) in tokens.iter().enumerate() {
            let logits = spec.logits(0, index as i32).unwrap();
            let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
            assert_eq!(best as i32, token);
        }
        assert!(matches!(spec.logits(0, tokens.len() as i32), Err(Error::InvalidArgument(_))));
    });
}

#[test]
fn a_second_spec_on_one_target_is_refused_while_the_first_lives() {
    let library = library();
    let target = Model::load(&model("target-llama"), false).unwrap();
    let context = Context::new(&target, ContextOptions::default());
    let plain = Params::new();
    let first = Spec::new(&library, context.get(), None, &plain).unwrap();
    let second = Spec::new(&library, context.get(), None, &plain);
    assert!(matches!(second, Err(Error::Busy(f)) if !f.message.is_empty()));
    drop(first);
    Spec::new(&library, context.get(), None, &plain).unwrap();
}

#[test]
fn arrays_of_a_batch_must_be_of_one_length() {
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        let error = spec.decode(Some(&Batch::new(&[10, 11]).seq_id(&[0]))).unwrap_err();
        assert_eq!(error.to_string(), "seq_id has 1 elements, but token has 2");
    });
}

#[test]
fn a_sampler_that_throws_is_an_error_and_greedy_goes_on() {
    let (prompt, answer) = prompt_and_answer(24, 20);
    let rogue = Rogue::new(3);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        // SAFETY: the sampler lives until it is replaced.
        let lent = unsafe { LlamaSampler::from_raw(rogue.as_ptr()) };
        spec.seq_set_sampler(0, lent).unwrap();
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        let error = loop {
            match spec.decode(None) {
                Ok(outcome) => assert_eq!(outcome, Outcome::Done),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("the sampler threw on purpose"), "{error}");
        spec.seq_set_sampler(0, None).unwrap();
        spec.seq_clear(0).unwrap();
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        assert_eq!(rounds(&mut spec, 20), answer);
    });
}

#[test]
fn cancel_is_seen_by_the_next_decode() {
    let (prompt, answer) = prompt_and_answer(24, 20);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        spec.remote().cancel().unwrap();
        assert_eq!(spec.decode(None), Ok(Outcome::Cancelled));
        assert_eq!(rounds(&mut spec, 20), answer);
    });
}

#[test]
fn hidden_rows_have_c_names() {
    let library = library();
    let target = Model::load(&model("mtp-mimo2-1"), true).unwrap();
    let context = Context::new(&target, ContextOptions::default());
    // SAFETY: nothing is decoded meanwhile.
    let too_early = unsafe { library.hidden_row(context.get(), 0) };
    assert!(matches!(too_early, Err(Error::CallOrder(_))));
    library.hidden_enable(context.get(), HiddenMode::All).unwrap();
    context.decode(&[10, 11, 12], 0);
    // SAFETY: read before the next decode.
    let row = unsafe { library.hidden_row(context.get(), 2) }.unwrap();
    assert!(row.len() >= 64 && row.iter().any(|&value| value != 0.0));
}

#[test]
fn counters_add_up_by_strategy() {
    let (prompt, _) = prompt_and_answer(24, 0);
    with_spec(&params(), ContextOptions::default(), |mut spec| {
        spec.decode(Some(&Batch::new(&prompt))).unwrap();
        assert_eq!(rounds(&mut spec, 64).len(), 64);
        let all = spec.stats(SEQ_ALL, None).unwrap();
        let own = spec.stats(0, Some("draft-simple")).unwrap();
        assert_eq!((all.n_emitted, all.n_accepted), (64, own.n_accepted));
        assert_eq!(all.acceptance_rate(), all.n_accepted as f64 / all.n_drafted as f64);
        assert!(matches!(spec.stats(0, Some("draft-simpel")), Err(Error::InvalidArgument(_))));
        spec.stats_reset().unwrap();
        assert_eq!(spec.stats(SEQ_ALL, None).unwrap().acceptance_rate(), 0.0);
    });
}
