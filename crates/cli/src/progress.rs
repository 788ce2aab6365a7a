//! Progress bars on standard error.

use hydra_core::{Progress, ProgressTask};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

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
        self.all.suspend(|| eprintln!("hydra: warning: {message}"));
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
        self.0.set_message(text.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
