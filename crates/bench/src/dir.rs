//! The dependency invocation rate.

use std::collections::BTreeSet;

use hydra_core::records::Judged;

use crate::Benchmark;
use crate::identifiers::statements;

/// The names that a right answer is expected to use: those which the context offers at its top
/// level and the reference body uses. An import offers every identifier of its statement, any
/// other statement its first one (as the published measure has it). Decorators offer nothing, and
/// the target, which ends the context, is no dependency of itself.
pub(crate) fn expected(context: &str, body: &str, target: &str) -> BTreeSet<String> {
    let used = identifiers(body);
    statements(context)
        .into_iter()
        .filter(|statement| !statement.decorator)
        .flat_map(|statement| {
            let count = if statement.import { usize::MAX } else { 1 };
            statement.identifiers.into_iter().take(count)
        })
        .filter(|name| *name != target && used.contains(name))
        .map(str::to_owned)
        .collect()
}

fn identifiers(code: &str) -> BTreeSet<&str> {
    statements(code)
        .into_iter()
        .flat_map(|statement| statement.identifiers)
        .collect()
}

/// The dependency invocation rate of one answer: the part of the expected names that its code
/// uses. Nothing where nothing is expected.
pub fn invoked(expected: &BTreeSet<String>, code: &str) -> Option<f64> {
    if expected.is_empty() {
        return None;
    }
    let used = identifiers(code);
    let met = expected.iter().filter(|n| used.contains(n.as_str()));
    Some(met.count() as f64 / expected.len() as f64)
}

/// The mean of [`invoked`] over the answers of all tasks that expect something; nothing where
/// none does.
pub fn invocation_rate(benchmark: &dyn Benchmark, judged: &[Judged]) -> Option<f64> {
    let rates: Vec<f64> = judged
        .iter()
        .filter_map(|j| invoked(benchmark.expected(&j.task)?, &j.code))
        .collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "import base64\nfrom .errors import BadInput\n\nLIMIT: int = len(base64)\n\n@cached\ndef check(text):\n    return helper(text)\n\nclass Box(Base):\n    pass\n\ndef walk(tree):\n";

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn expected_is_what_the_context_offers_and_the_body_uses() {
        let body = "    if not check(text) or LIMIT:\n        raise BadInput(Base, helper)\n    return 'Box' + walk(tree)";
        assert_eq!(
            names(&expected(CONTEXT, body, "walk")),
            ["BadInput", "LIMIT", "check"]
        );
    }

    #[test]
    fn the_rate_is_the_part_that_the_answer_uses() {
        let expected: BTreeSet<String> = ["check", "BadInput"].map(str::to_owned).into();
        assert_eq!(invoked(&expected, "x = check(y)  # BadInput"), Some(0.5));
        assert_eq!(invoked(&expected, "pass"), Some(0.0));
        assert_eq!(invoked(&BTreeSet::new(), "check()"), None);
    }
}
