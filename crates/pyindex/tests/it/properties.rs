//! Whatever a file holds, an index of it can be made, and what the index says of it holds.

use std::collections::{BTreeMap, HashSet};

use hydra_core::{RepoPath, Silent};
use hydra_pyindex::{IndexError, Options, Parser, RepoIndex, Unit, UnitKind};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const PARSERS: [Parser; 2] = [Parser::Ruff, Parser::Rustpython];
const PATHS: [&str; 4] = ["a.py", "pkg/__init__.py", "pkg/b.py", "pkg/sub/c.py"];

const NAMES: &[&str] = &[
    "a", "b", "f", "g", "x", "C", "B", "self", "cls", "été", "名", "_p", "__all__", "pkg",
];
const IMPORTS: &[&str] = &[
    "import a",
    "import pkg.b",
    "import pkg.sub.c as x",
    "from pkg import b",
    "from pkg.b import f as g, C",
    "from .b import *",
    "from . import b as B",
    "from .. import a",
    "from ..b import f, x",
    "from a import *",
    "import os.path, missing.part",
    "from __future__ import annotations",
];
/// Statements that stand alone, in which `$` is an expression and `%` a name.
const SIMPLE: &[&str] = &[
    "% = $",
    "% += $",
    "%: $ = $",
    "%, (%, *%) = $",
    "%.% = $",
    "%[$] = $",
    "self.% = $",
    "__all__ = ['a', '%']",
    "__all__ += %.__all__",
    "del %",
    "global %",
    "nonlocal %",
    "return $",
    "yield $",
    "raise $ from $",
    "assert $, $",
    "pass; % = $; pass",
    "$",
    "'text %'",
    "type %[T: $] = $",
    "% = \\\n  $",
    "% = (  # comment\n  $,\n)",
    "% = '''é\n  %\n'''",
    "# comment %",
    "\x0c",
    "",
];
/// Statements with bodies, in which `{` stands for a body.
const COMPOUND: &[&str] = &[
    "def %(self, a=$, /, *b: $, c: '%' = $, **d) -> $:{",
    "async def %(%: $):{",
    "# above\n@$\n@%.%\ndef %():{",
    "@property\ndef %(self):{",
    "@staticmethod\ndef %(x):{",
    "class %:{",
    "class %(%, %.%, metaclass=$):{",
    "@dataclass\nclass %(Enum):{",
    "class %[T](Generic[T]):{",
    "if $:{elif $:{else:{",
    "for %, x in $:{else:{",
    "while $:{",
    "with $ as %, $ as (a, b):{",
    "try:{except ($, %) as %:{finally:{",
    "try:{except* $:{",
    "match $:\n    case %(a, b=[c, *_]) as % if $:{",
    "match $:\n    case {'a': %, **x} | %.%:{",
];
/// Expressions, in which `$` is an expression and `%` a name.
const EXPRESSIONS: &[&str] = &[
    "%.%",
    "%.%($)",
    "%($, *$, %=$, **$)",
    "super().%($)",
    "self.%",
    "%[$]",
    "%[$:$, *$]",
    "($)",
    "[$, $]",
    "{$: $, **$}",
    "{$, $}",
    "($, $)",
    "$ + $ * -$",
    "(not $ or $ and $)",
    "($ < $ is not $)",
    "($ if $ else $)",
    "(lambda %, *b, c=$: $)",
    "(% := $)",
    "[$ for % in $ if $]",
    "{%: $ for %, x in $ for b in $}",
    "($ async for % in $)",
    "(await $)",
    "f'é{%!r:>{%}} {%.%}'",
    "f\"{f'{%}'} {(% := x)}\" 'more'",
    "f'{%['b']}'",
    "f'''{\n%}'''",
    "isinstance(%, (C, B))",
    "getattr(%, '%', $)",
    "'%'",
    "b'x'",
    "1_0.5e3j",
    "list['%']",
    "Optional[\"%.%\"]",
];

/// Puts names and expressions in their places.
fn filled(template: &str, names: &[&str], parts: &[String]) -> String {
    let (mut names, mut parts) = (names.iter().cycle(), parts.iter().cycle());
    let mut out = String::new();
    for c in template.chars() {
        match c {
            '%' => out.push_str(names.next().map_or("a", |n| *n)),
            '$' => out.push_str(parts.next().map_or("b", String::as_str)),
            _ => out.push(c),
        }
    }
    out
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = select(NAMES).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let names = vec(select(NAMES), 3);
        (select(EXPRESSIONS), names, vec(inner, 3))
            .prop_map(|(template, names, parts)| filled(template, &names, &parts))
    })
}

fn simple() -> impl Strategy<Value = String> {
    let template = prop_oneof![4 => select(SIMPLE), 1 => select(IMPORTS)];
    (template, vec(select(NAMES), 3), vec(expression(), 2))
        .prop_map(|(template, names, parts)| filled(template, &names, &parts) + "\n")
}

fn indented(body: &str) -> String {
    let lines = body.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

/// A statement with its line end.
fn statement() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 32, 4, |inner| {
        let bodies = vec(vec(inner, 1..4), 3);
        let parts = vec(expression(), 3);
        (select(COMPOUND), vec(select(NAMES), 4), parts, bodies).prop_map(
            |(template, names, parts, bodies)| {
                let deeper = template.starts_with("match");
                let mut bodies = bodies.iter().map(|body| {
                    let body = indented(&(body.concat() + "pass\n"));
                    if deeper { indented(&body) } else { body }
                });
                let mut out = String::new();
                let mut pieces = template.split(":{").peekable();
                while let Some(piece) = pieces.next() {
                    out.push_str(&filled(piece, &names, &parts));
                    if pieces.peek().is_some() {
                        out.push_str(":\n");
                        out.push_str(&bodies.next().unwrap_or_default());
                    }
                }
                out
            },
        )
    })
}

/// A file: sound most of the time, with any of the line ends and margins that there are.
fn program() -> impl Strategy<Value = String> {
    let ends = select(&["\n", "\n", "\n", "\r\n", "\r"][..]);
    let margin = select(&["    ", "    ", "\t", " "][..]);
    let damage = prop_oneof![
        any::<char>().prop_map(String::from),
        select(&["print 'x'", "'''", "(", ")", "\n", "  ", "\\"][..]).prop_map(str::to_owned),
    ];
    let damage = prop::option::weighted(0.3, (any::<prop::sample::Index>(), damage));
    (vec(statement(), 0..8), ends, margin, damage).prop_map(|(all, end, margin, damage)| {
        let text: String = all.concat();
        let mut text = text.replace("    ", margin).replace('\n', end);
        if let Some((at, damage)) = damage {
            let at = at.index(text.len() + 1);
            if text.is_char_boundary(at) {
                text.insert_str(at, &damage);
            }
        }
        text
    })
}

fn repository() -> impl Strategy<Value = Vec<(RepoPath, String)>> {
    let any_text = "\\PC*|[ \\t\\r\\n\\f'\"\\\\(){}\\[\\]:@#a-c=.]{0,80}";
    let text = prop_oneof![8 => program(), 1 => any_text];
    vec(text, 1..=PATHS.len()).prop_map(|texts| {
        let paths = PATHS.map(|path| RepoPath::new(path).expect("a path"));
        paths.into_iter().zip(texts).collect()
    })
}

fn options(parser: Parser, jobs: usize) -> Options {
    Options {
        parser,
        jobs,
        ..Options::default()
    }
}

fn index(files: &[(RepoPath, String)], parser: Parser, jobs: usize) -> RepoIndex {
    RepoIndex::from_sources_with(files.iter().cloned(), &options(parser, jobs)).expect("threads")
}

/// A unit's text with the margin of its first line taken from each line that has it.
fn dedented(text: &str) -> String {
    let width = text.len() - text.trim_start_matches([' ', '\t']).len();
    let (margin, _) = text.split_at(width);
    let lines = text
        .split('\n')
        .map(|line| match line.strip_prefix(margin) {
            Some(rest) => rest,
            None => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn assert_spans_hold(index: &RepoIndex, unit: &Unit) {
    let text = index.text(&unit.path).expect("the unit's file");
    let slice = text
        .get(unit.start_byte..unit.end_byte)
        .expect("spans lie on boundaries of characters");
    assert!(!slice.is_empty(), "{}", unit.id);
    assert_eq!(dedented(slice), unit.source, "{}", unit.id);
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    assert_eq!(unit.start_line, line(unit.start_byte), "{}", unit.id);
    let last = slice.chars().next_back().map_or(0, char::len_utf8);
    assert_eq!(unit.end_line, line(unit.end_byte - last), "{}", unit.id);
    assert!((unit.start_line..=unit.end_line).contains(&unit.head_line));
    let word = match unit.kind {
        UnitKind::Class => "class",
        UnitKind::Function | UnitKind::Method => "def",
        UnitKind::Variable | UnitKind::Attribute => return,
    };
    let head = text.split('\n').nth(unit.head_line - 1).unwrap_or_default();
    // `async \` may stand alone on its line.
    assert!(head.contains(word) || head.contains("async"), "{head:?}");
}

fn assert_answers_hold(index: &RepoIndex) {
    let mut ids = HashSet::new();
    for unit in index.units() {
        assert!(ids.insert(unit.id.clone()), "{} twice", unit.id);
        assert_eq!(index.unit(&unit.id), Some(unit), "{}", unit.id);
        assert_spans_hold(index, unit);
    }
    for unit in index.units() {
        let lines = 1 + index
            .text(&unit.path)
            .map_or(0, |text| text.matches('\n').count());
        for edge in index.edges(&unit.id) {
            assert!(ids.contains(&edge.unit), "{} is nowhere", edge.unit);
            assert_ne!(edge.unit, unit.id);
            assert!((1..=lines).contains(&edge.line), "{}", unit.id);
        }
        for other in index.pool(&unit.id) {
            assert_ne!(other.id, unit.id);
        }
    }
    for path in index.files() {
        index.imports(path);
        index.import_statements(path);
        index.imported_files(path);
    }
}

/// Everything that an index says of dependencies.
fn all_edges(index: &RepoIndex) -> BTreeMap<String, String> {
    let edges = index.units().map(|unit| {
        let edges = format!("{:?}", index.edges(&unit.id));
        (unit.id.to_string(), edges)
    });
    edges.collect()
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn most_generated_programs_are_sound() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut sound = 0;
    for _ in 0..100 {
        let program = program().new_tree(&mut runner).expect("a program");
        let text = proptest::strategy::ValueTree::current(&program);
        let path = RepoPath::new("a.py").expect("a path");
        let index = index(&[(path, text)], Parser::Ruff, 1);
        sound += usize::from(index.broken().count() == 0);
    }
    assert!(sound >= 50, "{sound} of 100");
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn what_an_index_says_of_any_program_holds(files in repository()) {
        for parser in PARSERS {
            assert_answers_hold(&index(&files, parser, 1));
        }
    }

    #[test]
    fn edges_do_not_depend_on_the_number_of_threads(files in repository()) {
        let edges = |jobs| all_edges(&index(&files, Parser::Ruff, jobs));
        prop_assert_eq!(edges(1), edges(2));
    }

    #[test]
    fn sound_programs_have_the_same_edges_by_either_parser(files in repository()) {
        let ruff = index(&files, Parser::Ruff, 1);
        let other = index(&files, Parser::Rustpython, 1);
        if ruff.broken().count() == 0 && other.skipped().is_empty() {
            prop_assert_eq!(all_edges(&ruff), all_edges(&other));
        }
    }

    #[test]
    fn any_bytes_on_disk_are_indexed_or_left_out(
        bytes in prop_oneof![
            vec(any::<u8>(), 0..200),
            program().prop_map(String::into_bytes),
            (program(), vec(any::<u8>(), 1..4)).prop_map(|(text, end)| [text.into_bytes(), end].concat()),
            (select(&["utf-8", "latin-1", "utf-16", "cp1252", "gbk", "é"][..]), vec(any::<u8>(), 0..80))
                .prop_map(|(name, rest)| [format!("# coding: {name}\n").into_bytes(), rest].concat()),
        ],
    ) {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("a.py"), bytes).expect("a file");
        for parser in PARSERS {
            match RepoIndex::build_with(root.path(), &options(parser, 1), None, &Silent) {
                Ok(index) => assert_answers_hold(&index),
                Err(IndexError::NoPython { skipped, .. }) => prop_assert_eq!(skipped, 1),
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        }
    }
}
