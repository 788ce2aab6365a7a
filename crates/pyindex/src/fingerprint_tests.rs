#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

fn tokens(text: &str) -> Tokens {
    read(&[text], |t| t).unwrap().remove(0).tokens
}

#[test]
fn layout_comments_quotes_and_documentation_do_not_count() {
    let plain = "def f(a, b=('x',)):\n    if a:\n        return [a, 'it\\'s']\n";
    let dressed = "# top\ndef f(\n    a,\n    b=(\"x\",),\n):\n  \"\"\"Doc.\"\"\"\n\n  if a:  # why\n     return [\n  a, \"it's\",\n  ]\n";
    assert_eq!(tokens(plain).hash(), tokens(dressed).hash());
}

#[test]
fn names_literals_and_order_count() {
    let base = tokens("x = f(1, 'a')\n").hash();
    for other in [
        "y = f(1, 'a')\n",
        "x = f(2, 'a')\n",
        "x = f(1, 'b')\n",
        "x = f(1, b'a')\n",
        "x = f(1, '\"')\n",
        "x = f(1, '')\n",
        "x = f('a', 1)\n",
    ] {
        assert_ne!(tokens(other).hash(), base, "{other}");
    }
}

#[test]
fn only_a_string_that_stands_alone_is_documentation() {
    assert_eq!(
        tokens("'doc'\nx = 1\n'more'\n").hash(),
        tokens("x = 1\n").hash()
    );
    assert_ne!(
        tokens("x: 'int' = 1\n").hash(),
        tokens("x: 'str' = 1\n").hash()
    );
}

#[test]
fn functions_are_found_without_their_decorators() {
    let text = "class C:\n    @cache\n    @other(1)\n    def m(self):\n        def inner():\n            return 2\n        return inner\n\nasync def g():\n    pass\n";
    let found = read(&[text], |t| t).unwrap().remove(0).functions;
    let names: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.line)).collect();
    assert_eq!(names, [("m", 2), ("inner", 5), ("g", 9)]);
    let alone = "def m(self):\n  def inner():\n    return 2\n  return inner\n";
    assert_eq!(found[0].tokens.hash(), tokens(alone).hash());
    assert_ne!(
        found[2].tokens.hash(),
        tokens("def g():\n    pass\n").hash()
    );
}

#[test]
fn what_nests_too_deep_or_is_no_python_still_has_tokens() {
    let deep = format!("x = {}{}\n", "(".repeat(300), ")".repeat(300));
    assert!(!tokens(&deep).is_empty());
    assert!(tokens("print 'python 2' $ ?\n").len() >= 4);
    assert!(tokens("").is_empty() && tokens("# only\n\n").is_empty());
}

#[test]
fn an_edited_copy_is_a_neighbour_and_another_program_is_none() {
    let original: String = (0..60)
        .map(|n| format!("def step_{n}(value):\n    return value * {n} + offset_{n}\n"))
        .collect();
    let edited = original
        .replace("offset_7", "shift")
        .replace("step_31", "thirty_one");
    let other: String = (0..60)
        .map(|n| {
            format!(
                "class Row{n}:\n    size = {n}\n    def read(self):\n        return self.size\n"
            )
        })
        .collect();
    let sketcher = Sketcher::default();
    let mut neighbours = Neighbours::new(0.7);
    neighbours.insert(7, sketcher.sketch(&tokens(&original)));
    assert_eq!(neighbours.like(&sketcher.sketch(&tokens(&edited))), [7]);
    assert!(
        neighbours
            .like(&sketcher.sketch(&tokens(&other)))
            .is_empty()
    );
    // Two of 60 functions differ, in a few shingles each.
    assert!(tokens(&original).similarity(&tokens(&edited)) > 0.9);
    assert!(tokens(&original).similarity(&tokens(&other)) < 0.1);
}

#[test]
fn the_sketch_estimates_the_jaccard_similarity() {
    let line = |n: usize| format!("a{n} = b{n}(c{n}, d{n})\n");
    let one: String = (0..200).map(line).collect();
    let two: String = (60..260).map(line).collect();
    let (one, two) = (tokens(&one), tokens(&two));
    let sketcher = Sketcher::default();
    let (a, b) = (sketcher.sketch(&one), sketcher.sketch(&two));
    let equal = a.0.iter().zip(&b.0).filter(|(x, y)| x == y).count();
    let estimate = equal as f64 / SKETCH as f64;
    // 140 of 260 lines are shared; four standard errors of 128 draws.
    assert!(
        (estimate - one.similarity(&two)).abs() < 4.0 * 0.045,
        "{estimate}"
    );
}

proptest! {
    #[test]
    fn any_text_has_tokens_and_is_like_itself(text in "[ -~\n]{0,200}") {
        let own = tokens(&text);
        prop_assert!((own.similarity(&own) - 1.0).abs() < f64::EPSILON);
        prop_assert_eq!(own.hash(), tokens(&text).hash());
    }
}
