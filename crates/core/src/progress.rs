//! How libraries say how far they are without knowing who listens.

/// Somebody who wants to know how far a stage is. Only the binary draws.
pub trait Progress: Sync {
    /// A piece of work begins; `total` items if that is known.
    fn start(&self, title: &str, total: Option<u64>) -> Box<dyn Task>;
    /// Something that the user should read; the work goes on.
    fn warn(&self, message: &str);
}

/// One piece of work under way. Dropping it ends it.
pub trait Task: Send + Sync {
    /// `by` more items are done.
    fn advance(&self, by: u64);
    /// The figures of the moment, such as `loss 0.31 · 12 pairs/s`.
    fn message(&self, text: &str);
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &str, _: Option<u64>) -> Box<dyn Task> {
        Box::new(Self)
    }
    fn warn(&self, _: &str) {}
}

impl Task for Silent {
    fn advance(&self, _: u64) {}
    fn message(&self, _: &str) {}
}
