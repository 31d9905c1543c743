//! Turns panics inside the crates into ordinary errors.

use std::any::Any;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};

/// Stops the default panic hook from writing to stderr. The message still
/// reaches the caller through [`catch`].
pub fn silence_panics() {
    set_hook(Box::new(|_| {}));
}

/// Runs `work`, turning a panic into its message.
///
/// Nothing observable outlives a caught panic: callers hand in freshly built
/// state and drop it with the error.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("(no message)");
    one_line(text)
}

/// Folds every run of white space into one blank, so that a reason always
/// fits on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
