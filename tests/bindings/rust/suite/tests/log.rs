//! The log. It is one per process, and whoever is inside the library when a callback panics gets the panic: hence a test
//! program with nothing else in it.

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex};

use llama_speculative::{LogLevel, Session, SessionParams};
use suite::{library, model};

#[test]
fn log_lines_arrive_and_a_panic_among_them_goes_on_in_the_caller() {
    let library = library();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let keep =
        move |level: LogLevel, text: &str| kept.lock().unwrap().push((level, text.to_owned()));
    let open = || {
        let params = SessionParams::new().model(model("target-llama")).n_ctx(64).n_threads(1);
        Session::open(&library, &params)
    };
    library.log_set(Some(Box::new(keep))).unwrap();
    open().unwrap();
    library.log_set(Some(Box::new(|_, _| panic!("in the log")))).unwrap();
    let panic = catch_unwind(|| drop(open()));
    library.log_set(None).unwrap();
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"in the log"));
    assert!(lines.lock().unwrap().iter().any(|(_, text)| text.contains("llama")));
    open().unwrap();
}
