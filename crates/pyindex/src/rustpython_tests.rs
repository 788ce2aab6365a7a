#![allow(clippy::unwrap_used)]
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ruff_python_ast::AnyNodeRef;
use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_text_size::Ranged;

use super::*;

/// What a tree says, in source order.
#[derive(Default)]
struct Seen {
    /// Kind and place of every node outside f-strings.
    nodes: Vec<(String, TextRange)>,
    /// Every name that is read, bound, or asked of something, f-strings included.
    names: Vec<String>,
    /// How many f-strings surround the node.
    strings: usize,
}

impl<'a> SourceOrderVisitor<'a> for Seen {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprName(name) => self.names.push(name.id.to_string()),
            AnyNodeRef::Identifier(name) => self.names.push(name.id.to_string()),
            // The parts of a concatenated string: rustpython has only one.
            AnyNodeRef::StringLiteral(_) | AnyNodeRef::BytesLiteral(_) => {
                return TraversalSignal::Skip;
            }
            _ => {}
        }
        if self.strings == 0 {
            let kind = format!("{:?}", node.kind());
            self.nodes.push((kind, node.range()));
        }
        self.strings += usize::from(node.is_expr_f_string());
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, node: AnyNodeRef<'a>) {
        self.strings -= usize::from(node.is_expr_f_string());
    }
}

fn seen(module: &ruff::ModModule) -> Seen {
    let mut seen = Seen::default();
    seen.visit_body(&module.body);
    seen
}

fn ours(text: &str) -> ruff::ModModule {
    parse(text, "test.py").unwrap_or_else(|reason| panic!("{reason} in {text:?}"))
}

fn theirs(text: &str) -> ruff::ModModule {
    ruff_python_parser::parse_module(text)
        .unwrap_or_else(|reason| panic!("{reason} in {text:?}"))
        .into_syntax()
}

fn assert_same_places_and_names(text: &str) {
    let (ours, theirs) = (seen(&ours(text)), seen(&theirs(text)));
    assert_eq!(ours.nodes, theirs.nodes, "{text:?}");
    assert_eq!(ours.names, theirs.names, "{text:?}");
}

fn assert_same(text: &str) {
    let (a, b) = (ours(text), theirs(text));
    let comparable = |module: &ruff::ModModule| -> String {
        let body: Vec<_> = module.body.iter().map(ComparableStmt::from).collect();
        format!("{body:#?}")
    };
    assert_eq!(comparable(&a), comparable(&b), "{text:?}");
    assert_eq!(a.range, b.range);
    assert_same_places_and_names(text);
}

const STATEMENTS: &[&str] = &[
    "",
    "pass; x = 1; y\n",
    "x = y = z, w\nx, *y = z\n[a, (b, c)] = d\n(a.b), c[d] = e\n",
    "x += 1\nx @= y\nx **= 2\nx //= 3\nx >>= 4\nx <<= 5\nx &= 6\nx |= 7\nx ^= 8\nx %= 9\nx -= 1\nx *= 1\nx /= 1\n",
    "x: int\nx: int = 1\n(x): int = 2\nx.y: int\nx[0]: 'T' = yield\nx: tuple = *a, b\n",
    "type X = int\ntype Y[T: int, *Ts, **P] = list[T]\ntype = 1\ntype(x)\nmatch = case = type\n",
    "def f():\n    return\n    return 1, *x\n    yield\n    yield 1, 2\n    yield from x\n    await y\n    global a, b\n",
    "def f():\n  def g():\n    nonlocal  a , b\n",
    "def f(a, b=1, /, c: int = 2, *args: int, d, e: str = (x), **kwargs: 'T') -> (R): ...\n",
    "def f(*, a): pass\ndef g(*args: *Ts): pass\ndef h(a, b, /): pass\ndef i(a=(1), b=((2),)): pass\n",
    "async  def  f [T](self) : pass\n",
    "@a\n@ b.c(d, e=f)\n@(yield_ := x)\n@( # comment @\n  (z)\n)\ndef f(): pass\n",
    "@a\nasync def f(): pass\n\n@x\n# @y\n@z\nclass C: pass\n",
    "class A: pass\nclass B(): (x)\nclass C(A, *B, metaclass=M, **k):\n  'doc'\n  x: int = 1\nclass D[T](A[T]): pass\nclass E[T]: pass\n",
    "for x in y: pass\nfor x, *y in z, w:\n  continue\nelse:\n  break\n",
    "async def f():\n  async for x in y: pass\n  async with a as b, c: pass\n  return [x async for x in y if await z]\n",
    "while x: pass\nwhile (y := z):\n  pass\nelse: pass\n",
    "if a: b\nif a:\n  b\nelif c:\n  d\nelif (e):\n  f\nelse:\n  g\nif a: b\nelse: c\n",
    "if a: b\nelse:\n  if c: d\n  else: e\nif a: b\nelse:\n  @x\n  def f(): pass\n",
    "with a: pass\nwith a as b: pass\nwith a as (b, c), d as e[0]: pass\nwith (a): pass\nwith (a, b): pass\n",
    "with (a as b, c as d,): pass\nwith (a, b) as c: pass\nwith (a), b: pass\nwith (a) as b, (c): pass\nwith (yield): pass\nwith (a := b): pass\n",
    "try: a\nexcept: b\ntry: a\nexcept A: b\nexcept (B, C) as d: e\nelse: f\nfinally: g\ntry: a\nfinally: b\n",
    "try: a\nexcept* A: b\nexcept * (B) as  c : d\n",
    "raise\nraise A\nraise A(b) from c\nassert a\nassert a, 'b'\ndel a, b.c, d[0]\ndel (a), [b]\n",
    "import a\nimport a.b.c, d as e, f . g as  h\n",
    "from a import b\nfrom . import b as c\nfrom .. a . b import (c, d as e,)\nfrom ... import x\nfrom .... import x\nfrom .a import *\n",
    "x = 1;\nif y: z;\ndef f(): pass;\n",
];

const PATTERNS: &[&str] = &[
    "match x:\n  case 1: pass\n  case -1.5 | 2 + 3j: pass\n  case 'a' 'b' | b'c': pass\n  case None | True | False: pass\n",
    "match x:\n  case a.b | a.b.c: pass\n  case _: pass\n  case y if y > 1: pass\n  case (z): pass\n  case (1 | 2) as w: pass\n",
    "match x:\n  case []: pass\n  case (): pass\n  case [a, *_, b]: pass\n  case (a, *rest): pass\n  case a, b: pass\n  case *c,: pass\n",
    "match x:\n  case {}: pass\n  case {'a': 1, b.c: [d], -1: e, None: f, **rest}: pass\n  case { ** rest , }: pass\n",
    "match x:\n  case A(): pass\n  case a.B(1, c, d=2, e = (f)): pass\n  case A(b = [c],): pass\n",
    "match x, y:\n  case _: pass\nmatch (x, y),:\n  case _: pass\nmatch x,:\n  case _: pass\nmatch *a, b:\n  case _: pass\nmatch (x):\n  case _: pass\n",
    "match (x := y):\n  case _:\n    pass\n    z\n",
];

const EXPRESSIONS: &[&str] = &[
    "a or b or (c and d and e)\nnot a\n-a + +b - ~c\n(a + b) * c ** -d // e % f / g @ h << i >> j & k | l ^ m\n",
    "a < b <= c > d >= e == f != g is h is not i in j not in k\n",
    "(a := b)\nf(a := (b))\nx[y := (z)]\na if b else c if d else e\n",
    "lambda: x\nlambda a, b=1, /, *c, d=(2), **e: f\nlambda *, a: a\nlambda a,: (a)\nlambda *a: lambda: a\nlambda **k: k\n",
    "{}\n{a: b, **c, d: e}\n{a, *b}\n[a, *b]\n[]\n()\n(a,)\n(a, b)\na,\n(a), (b)\n((a), (b))\n",
    "[a for b in c]\n{a for b, *c in (d) if e if (f)}\n{a: b for c in d for e in f}\n(a for b in c)\nf(a for b in c)\nf((a for b in c), d)\n",
    "f()\nf(a, *b, c=d, **e)\nf(a=1, *b)\n(f)(x)(y)\nf(a)(b).c[d](e,)\na . b . c\n(a).b\n",
    "a[b]\na[b, c]\na[(b, c)]\na[b,]\na[*b]\na[*b, c]\na[:]\na[b:c]\na[b:c:d, ::, e:]\na[()]\n",
    "1\n0x_ff\n0o17\n0b1_0\n18446744073709551615\n18446744073709551616\n0xFFFF_FFFF_FFFF_FFFF_F\n1_000\n1.5\n1e10\n.5\n2j\n1.5J\nTrue\nFalse\nNone\n...\n",
    "'a'\n\"b\"\n'''c\nd'''\nr'\\e'\nu'f'\nb'g\\x00'\nrb'\\h'\n'\\n\\t\\x41\\u00e9\\N{DIGIT ONE}\\\n'\n",
    "f''\nf'a'\nf'{a}'\nf'x{a!r}y{b!s:>10}{c:{d}.{e}}z{{}}'\nrf'\\{a}'\nf'{a.b[c](d)} {lambda_} {[x for x in y]}'\n",
    "'a' 'b'\nb'a' b'b'\n('a'\n 'b')\nf'a{b}' 'c'\nf'a{b}' f'{c}d'\n",
    "été = naïve.ﬁeld\nimport ﬁ.ª as ﬀ\ndef 𝐟(ﬁ, *ﬂ): pass\n",
];

#[test]
fn statements_come_out_as_ruff_has_them() {
    for text in STATEMENTS {
        assert_same(text);
    }
}

#[test]
fn patterns_come_out_as_ruff_has_them() {
    for text in PATTERNS {
        assert_same(text);
    }
}

#[test]
fn expressions_come_out_as_ruff_has_them() {
    for text in EXPRESSIONS {
        assert_same(text);
    }
}

#[test]
fn the_snippets_hold_every_kind_of_node() {
    let all = [STATEMENTS, PATTERNS, EXPRESSIONS].concat();
    let kinds: BTreeSet<String> = all
        .iter()
        .flat_map(|text| seen(&ours(text)).nodes)
        .map(|(kind, _)| kind)
        .collect();
    // Of ruff's 94 kinds, these 12 are not to be seen: the module and the lone expression, IPython's
    // two, t-strings' two, and the six that strings and f-strings are made of.
    assert_eq!(kinds.len(), 94 - 12, "{kinds:?}");
}

#[test]
fn a_debug_interpolation_keeps_its_names() {
    assert_same_places_and_names("f'{a.b = }{c=!r:>{d}}'\n");
    assert_same_places_and_names("f'{a}' '' f'{b}'\n");
}

#[test]
fn what_stands_in_an_f_string_has_its_place() {
    let text = "x = f'{(lambda a, *b, c=1: f(a, k=b))(y)}'\n";
    let module = ours(text);
    let ruff::Stmt::Assign(assign) = &module.body[0] else {
        panic!("{module:?}");
    };
    let mut inside = Seen::default();
    inside.visit_expr(&assign.value);
    assert_eq!(&text[assign.value.range()], text[4..].trim_end());
    // All stand in one place, so that only their number and their names can be compared.
    let mut theirs = seen(&theirs(text)).names.split_off(1);
    inside.names.sort();
    theirs.sort();
    assert_eq!(inside.names, theirs);
}

#[test]
fn line_ends_and_marks_do_not_move_anything() {
    for text in [
        "\u{feff}def f():\r\n    'doc'\r\n    return 1\r\n\r\nclass C:\r\n    pass",
        "\u{feff}# only a comment",
        "def f(): pass\n\x0c\ndef g(): pass\n\x0cclass C: pass",
        "if x:\n    y\n    # end",
        "if x:\n    y\n  ",
        "a = 1\rb = 2\r",
        "y = 'c\\\r\nd'\r\n",
        "x = 1 + \\\r\n  2\r\n",
        "if x:\n\ty\n\n\tz\n",
    ] {
        assert_same(text);
    }
}

#[test]
fn the_reason_names_the_line() {
    assert_eq!(
        parse("x = 1\ny = (\nz = 2\n", "test.py").unwrap_err(),
        "syntax error: invalid syntax. Got unexpected token '=' at line 3"
    );
    assert_eq!(
        parse("def f(a, a): pass", "test.py").unwrap_err(),
        "syntax error: duplicate argument 'a' in function definition at line 1"
    );
}

#[test]
fn what_only_ruff_reads_is_an_error() {
    for text in [
        "f'{a['b']}'\n",
        "f'{a # why\n}'\n",
        "def f[T = int](): pass\n",
        "t'{a}'\n",
        "try: a\nexcept A, B: b\n",
        "if x:\n \ty\n",
    ] {
        theirs(text);
        assert!(parse(text, "test.py").is_err(), "{text:?}");
    }
}

#[test]
fn flags_tell_where_the_content_of_a_string_begins() {
    let text = "x: 'int' = 1\ny: r\"list\" = 2\nz: '''dict''' = 3\n";
    let module = ours(text);
    let contents = module.body.iter().map(|statement| {
        let annotation = &statement.as_ann_assign_stmt().unwrap().annotation;
        let string = annotation.as_string_literal_expr().unwrap();
        text[string.value.as_slice()[0].content_range()].to_owned()
    });
    assert_eq!(contents.collect::<Vec<_>>(), ["int", "list", "dict"]);
}

/// Both run on the test's own small stack. What comes out is not dropped, because dropping it
/// needs a stack as deep as the tree.
#[test]
fn deep_trees_do_not_overflow_the_stack() {
    const DEPTH: usize = 10_000;
    let open = "[".repeat(DEPTH);
    let close = "]".repeat(DEPTH);
    std::mem::forget(ours(&format!("x = {open}{close}\n")));
    std::mem::forget(ours(&format!("x = a{}\n", " + a".repeat(DEPTH))));
    std::mem::forget(ours(&format!("x = {}a\n", "lambda: ".repeat(DEPTH))));
    std::mem::forget(ours(&format!("match x:\n case {open}{close}: pass\n")));
}

#[test]
fn a_long_chain_of_elif_is_flat() {
    let chain = "elif x: y\n".repeat(20_000);
    let module = ours(&format!("if x: y\n{chain}else: z\n"));
    assert_eq!(
        module.body[0].as_if_stmt().unwrap().elif_else_clauses.len(),
        20_001
    );
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.ends_with("site-packages") {
            python_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "py") {
            found.push(path);
        }
    }
}

fn standard_library() -> Option<PathBuf> {
    let print = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let output = std::process::Command::new("python3")
        .args(["-c", print])
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

/// `None` where only one of the parsers reads the file, or it is not UTF-8.
fn compare(path: &Path) -> Option<(Seen, Seen)> {
    let text = std::fs::read_to_string(path).ok()?;
    let ours = parse(&text, "test.py").ok()?;
    let theirs = ruff_python_parser::parse_module(&text).ok()?;
    Some((seen(&ours), seen(theirs.syntax())))
}

#[test]
fn the_standard_library_comes_out_as_ruff_has_it() {
    /// One file of so many: the whole library takes a minute in a debug build.
    const EVERY: usize = 10;
    let Some(root) = standard_library() else {
        println!("skipped: no python3 that names its standard library");
        return;
    };
    let work = move || {
        let mut files = Vec::new();
        python_files(&root, &mut files);
        let mut compared = 0;
        for path in files.iter().step_by(EVERY) {
            if let Some((ours, theirs)) = compare(path) {
                assert_eq!(ours.nodes, theirs.nodes, "{}", path.display());
                assert_eq!(ours.names, theirs.names, "{}", path.display());
                compared += 1;
            }
        }
        assert!(compared > 0, "no file under {}", root.display());
        println!("{compared} files");
    };
    // Visiting and dropping recurse.
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}
