//! Runs the shared cases: reads them from standard input and writes what it saw, see tests/cases/README.md.

use std::io::{self, Read, Write};
use std::time::Instant;

use llama_speculative::{
    Batch, Error, GenParams, Outcome, OwnedLlamaContext, Params, Session, SessionParams, Spec,
};
use suite::{library, Context, ContextOptions, Model};

#[derive(Default)]
struct Case {
    name: String,
    layer: String,
    target: String,
    draft: Option<String>,
    load_mtp: bool,
    sequences: i32,
    context: ContextOptions,
    params: Params,
    n_predict: i32,
    stops: Vec<String>,
    prompt: Vec<i32>,
}

impl Case {
    /// Takes one line; true at the end of the case.
    fn take(&mut self, line: &str) -> bool {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match key {
            "case" => (self.name, self.layer) = (first.to_owned(), second.to_owned()),
            "target" => self.target = rest.to_owned(),
            "draft" => self.draft = Some(rest.to_owned()),
            "load_mtp" => self.load_mtp = rest == "1",
            "sequences" => self.sequences = number(rest),
            "context" => match first {
                "n_ctx" => self.context.n_ctx = number(second),
                "n_batch" => self.context.n_batch = number(second),
                "n_ubatch" => self.context.n_ubatch = number(second),
                other => panic!("{}: this runner does not know context {other}", self.name),
            },
            "params" => self.set_param(first, second),
            "n_predict" => self.n_predict = number(rest),
            "stop" => self.stops.push(from_hex(rest)),
            "prompt" => self.prompt = rest.split(' ').map(number).collect(),
            "end" => return true,
            other => panic!("{}: this runner does not know {other}", self.name),
        }
        false
    }

    fn set_param(&mut self, name: &str, value: &str) {
        let params = &mut self.params;
        let field = match name {
            "strategies" => {
                params.strategies = value.to_owned();
                return;
            }
            "p_min" => {
                params.p_min = value.parse().expect("a number");
                return;
            }
            "n_draft_max" => &mut params.n_draft_max,
            "n_draft_min" => &mut params.n_draft_min,
            "ngram_simple_n" => &mut params.ngram_simple_n,
            "ngram_simple_m" => &mut params.ngram_simple_m,
            "ngram_map_k_n" => &mut params.ngram_map_k_n,
            "ngram_map_k_m" => &mut params.ngram_map_k_m,
            "ngram_map_k4v_n" => &mut params.ngram_map_k4v_n,
            "ngram_map_k4v_m" => &mut params.ngram_map_k4v_m,
            "ngram_mod_n_match" => &mut params.ngram_mod_n_match,
            "ngram_mod_n_max" => &mut params.ngram_mod_n_max,
            "ngram_mod_n_min" => &mut params.ngram_mod_n_min,
            other => panic!("{}: this runner does not know params {other}", self.name),
        };
        *field = number(value);
    }

    fn run(&self) -> Result<String, Error> {
        match self.layer.as_str() {
            "session" => self.session(),
            "loop" => self.on_contexts(Self::rounds),
            "primitives" => self.on_contexts(Self::primitives),
            other => panic!("{}: this runner does not know the layer {other}", self.name),
        }
    }

    fn session(&self) -> Result<String, Error> {
        let mut params = SessionParams::new()
            .model(&self.target)
            .n_ctx(self.context.n_ctx)
            .n_batch(self.context.n_batch)
            .n_ubatch(self.context.n_ubatch)
            .n_seq_max(self.sequences)
            .n_threads(1)
            .speculative(self.params.clone());
        params.model_draft = self.draft.clone();
        let mut session = Session::open(&library(), &params)?;
        let limits = GenParams::new().n_predict(self.n_predict).stops(self.stops.clone());
        let mut text = String::new();
        let start = Instant::now();
        for piece in session.generate(&self.prompt, &limits)? {
            text += &piece?.text;
        }
        let seconds = start.elapsed().as_secs_f64();
        let result = session.result()?;
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!(
            "text {hex}\nseconds {seconds:.6}\ndrafted 0 {}\naccepted 0 {}\nfinish 0 {}\n",
            result.n_drafted,
            result.n_accepted,
            name_of(&format!("{:?}", result.finish)),
        ))
    }

    /// Contexts of the user's own, and a spec on them.
    fn on_contexts(
        &self,
        body: fn(&Self, &Context<'_>, &mut Spec<'_>) -> Result<String, Error>,
    ) -> Result<String, Error> {
        let library = library();
        let target = Model::load(&self.target, self.load_mtp).expect("the target loads");
        let draft =
            self.draft.as_ref().map(|path| Model::load(path, false).expect("the draft loads"));
        let draft_model = draft.as_ref().map(Model::get);
        let needs = library.requirements(target.get(), draft_model, &self.params)?;
        let options = ContextOptions {
            n_ctx: self.context.n_ctx * self.sequences,
            n_seq_max: self.sequences,
            n_rs_seq: needs.n_rs_seq,
            ..self.context
        };
        let context = Context::new(&target, options);
        let draft_context = library.draft_context_init(context.get(), draft_model, &self.params)?;
        let lent = draft_context.as_ref().map(OwnedLlamaContext::get);
        let mut spec = Spec::new(&library, context.get(), lent, &self.params)?;
        body(self, &context, &mut spec)
    }

    fn rounds(&self, _: &Context<'_>, spec: &mut Spec<'_>) -> Result<String, Error> {
        let sequences = 0..self.sequences;
        for seq_id in sequences.clone() {
            spec.seq_set_limits(seq_id, -1, self.n_predict)?;
            let seq_ids = vec![seq_id; self.prompt.len()];
            spec.decode(Some(&Batch::new(&self.prompt).seq_id(&seq_ids)))?;
        }
        let mut emitted = vec![Vec::new(); self.sequences as usize];
        while spec.decode(None)? == Outcome::Done {
            for seq_id in sequences.clone() {
                emitted[seq_id as usize].extend(spec.accepted_tokens(seq_id)?);
            }
        }
        let mut text = String::new();
        for (seq_id, tokens) in sequences.zip(&emitted) {
            let stats = spec.stats(seq_id, None)?;
            let finish = name_of(&format!("{:?}", spec.seq_info(seq_id)?.finish));
            text += &format!("tokens {seq_id}{}\n", listed(tokens));
            text += &format!("drafted {seq_id} {}\n", stats.n_drafted);
            text += &format!("accepted {seq_id} {}\nfinish {seq_id} {finish}\n", stats.n_accepted);
        }
        Ok(text)
    }

    fn primitives(&self, target: &Context<'_>, spec: &mut Spec<'_>) -> Result<String, Error> {
        let (last, evaluated) = self.prompt.split_last().expect("a prompt");
        // the target evaluates all but the last token, in chunks that the strategies are shown
        let mut pos0 = 0;
        for chunk in evaluated.chunks(self.context.n_batch as usize) {
            pos0 = decode_and_show(target, spec, chunk, pos0)?;
        }
        spec.begin(0, evaluated)?;
        let (mut last, mut emitted) = (*last, Vec::new());
        let (mut drafted, mut accepted) = (0, 0);
        while (emitted.len() as i32) < self.n_predict {
            spec.draft_request(0, pos0, last, self.n_predict - emitted.len() as i32 - 1)?;
            spec.draft()?;
            let draft = spec.draft_tokens(0)?;
            let batch: Vec<i32> = [last].into_iter().chain(draft.iter().copied()).collect();
            decode_and_show(target, spec, &batch, pos0)?;
            let agreed = (0..draft.len()).take_while(|&i| target.greedy(i) == draft[i]).count();
            last = target.greedy(agreed);
            emitted.extend(&draft[..agreed]);
            emitted.push(last);
            spec.accept(0, agreed as i32)?;
            pos0 += 1 + agreed as i32;
            target.remove_from(pos0);
            drafted += draft.len();
            accepted += agreed;
        }
        Ok(format!("tokens 0{}\ndrafted 0 {drafted}\naccepted 0 {accepted}\n", listed(&emitted)))
    }
}

/// Evaluates tokens, shows them to the strategies, and returns the position behind them.
fn decode_and_show(
    target: &Context<'_>,
    spec: &mut Spec<'_>,
    tokens: &[i32],
    pos0: i32,
) -> Result<i32, Error> {
    target.decode(tokens, pos0);
    let pos: Vec<i32> = (pos0..).take(tokens.len()).collect();
    let output = vec![1; tokens.len()];
    spec.process(&Batch::new(tokens).pos(&pos).output(&output))?;
    Ok(pos0 + tokens.len() as i32)
}

fn number(text: &str) -> i32 {
    text.parse().expect("a number")
}

fn from_hex(text: &str) -> String {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    String::from_utf8((0..text.len()).step_by(2).map(byte).collect()).expect("UTF-8")
}

fn listed(tokens: &[i32]) -> String {
    tokens.iter().map(|token| format!(" {token}")).collect()
}

/// `ContextFull` -> `CONTEXT_FULL`: the name of an enum value in the spec.
fn name_of(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name
}

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut out = io::stdout().lock();
    let mut case = Case::default();
    for line in text.lines() {
        if !case.take(line) {
            continue;
        }
        let seen = case.run().unwrap_or_else(|error| {
            let status = error.status().map_or_else(String::new, |it| library().status_name(it));
            format!("error {status} {error}\n")
        });
        write!(out, "case {} {}\n{seen}end\n", case.name, case.layer)?;
        case = Case::default();
    }
    Ok(())
}
