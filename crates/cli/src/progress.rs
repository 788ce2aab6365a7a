//! Progress bars on standard error.

use std::borrow::Cow;

use hydra_core::{Progress, ProgressTask};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A text for a terminal: what a repository calls its files must not steer it. Line ends stay.
pub fn harmless(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() && c != '\n' && c != '\t')
}

/// [`harmless`], on one line: for names.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
}

fn escape(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_bad) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_bad(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Draws one bar per piece of work.
pub struct Bars {
    all: MultiProgress,
}

impl Bars {
    /// Bars on standard error; none if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        Self {
            all: MultiProgress::with_draw_target(target),
        }
    }
}

impl Progress for Bars {
    fn start(&self, title: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{prefix:12} {bar:24} {pos}/{len} {elapsed} (left {eta}) {msg}",
            )),
            None => {
                ProgressBar::new_spinner().with_style(style("{prefix:12} {pos} {elapsed} {msg}"))
            }
        };
        let bar = self.all.add(bar.with_prefix(title.to_owned()));
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Box::new(Bar(bar))
    }

    fn warn(&self, message: &str) {
        self.all
            .suspend(|| eprintln!("hydra: warning: {}", harmless(message)));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

struct Bar(ProgressBar);

impl ProgressTask for Bar {
    fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    fn message(&self, text: &str) {
        self.0.set_message(one_line(text).into_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(harmless("a\u{1b}[31m.py\n\tb"), "a\\u{1b}[31m.py\n\tb");
        assert_eq!(one_line("new\nline\u{9b}.py"), "new\\nline\\u{9b}.py");
        assert!(matches!(harmless("é.py"), Cow::Borrowed("é.py")));
    }
}
