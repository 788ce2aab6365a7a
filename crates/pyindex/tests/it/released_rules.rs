//! The `as-released` mode: one small repository for each rule.

use hydra_core::RepoPath;
use hydra_pyindex::released::{Calls, Component, ComponentId, ReleasedIndex};

fn index(files: &[(&str, &str)]) -> ReleasedIndex {
    let sources = files.iter().map(|(path, text)| {
        let path = RepoPath::new(*path).expect("a path");
        (path, (*text).to_owned())
    });
    ReleasedIndex::from_sources("/repo", sources).expect("threads")
}

fn one<'a>(index: &'a ReleasedIndex, id: &str) -> &'a Component {
    let known: Vec<_> = index.components.keys().map(ComponentId::as_str).collect();
    index
        .components
        .get(id)
        .unwrap_or_else(|| panic!("{id} is none of {known:?}"))
}

fn texts(calls: &Calls) -> Vec<&str> {
    calls.iter().map(ComponentId::as_str).collect()
}

/// What a component depends on: classes, functions, variables.
fn uses<'a>(index: &'a ReleasedIndex, id: &str) -> Vec<&'a str> {
    texts(&one(index, id).outgoing_calls)
}

fn noise(index: &ReleasedIndex, id: &str) -> Vec<String> {
    let noise = index.noise(one(index, id));
    texts(&noise).into_iter().map(str::to_owned).collect()
}

fn ids(index: &ReleasedIndex) -> Vec<&str> {
    index.components.keys().map(ComponentId::as_str).collect()
}

fn external<'a>(index: &'a ReleasedIndex, path: &str) -> Vec<&'a str> {
    let file = &index.external_knowledge[&RepoPath::new(path).expect("a path")];
    let ids = file.external_entity.iter();
    ids.map(ComponentId::as_str).collect()
}

const LIBRARY: (&str, &str) = (
    "lib.py",
    "LIMIT = 1\nclass Base: pass\ndef helper(): pass\n",
);

#[test]
fn variables_are_plain_assignments_of_bare_names_directly_in_the_module() {
    let index = index(&[(
        "m.py",
        "a = b = 1; c = 2\nd, e = 1, 2\nf: int = 3\nif a:\n    g = 4\na += 1\nclass C:\n    h = 1\nb = (\n  5\n)\n",
    )]);
    assert_eq!(ids(&index), ["a@m.py", "b@m.py", "c@m.py", "C@m.py"]);
    assert_eq!(one(&index, "a@m.py").source_code, "a = b = 1; c = 2");
    let b = one(&index, "b@m.py");
    assert_eq!((b.start_line, b.end_line), (9, 11));
    assert_eq!(b.source_code, "b = (\n  5\n)");
    assert_eq!((b.docstring.as_str(), b.signature.as_str()), ("", ""));
}

#[test]
fn functions_directly_in_a_class_are_methods_and_guarded_ones_functions() {
    let index = index(&[(
        "m.py",
        "class C:\n    def a(self): pass\n    if a:\n        def b(self): pass\n    class D:\n        def c(self): pass\nif C:\n    class E:\n        def d(self): pass\n    def e(): pass\n",
    )]);
    assert_eq!(ids(&index), ["C@m.py", "C.a@m.py", "e@m.py", "b@m.py"]);
}

#[test]
fn inner_functions_are_named_after_the_nearest_function_around_them() {
    let index = index(&[(
        "m.py",
        "def f():\n    def g():\n        def h(): pass\n    class C:\n        def k(self):\n            def l(): pass\n",
    )]);
    assert_eq!(ids(&index), ["f@m.py", "f.g@m.py", "g.h@m.py", "k.l@m.py"]);
}

#[test]
fn functions_come_breadth_first_with_an_elif_below_the_if_before_it() {
    let index = index(&[(
        "m.py",
        "if x:\n    def a(): pass\nelif y:\n    def c(): pass\nelse:\n    def d(): pass\ntry:\n    def b(): pass\nexcept E:\n    def e(): pass\n",
    )]);
    assert_eq!(
        ids(&index),
        ["a@m.py", "b@m.py", "c@m.py", "d@m.py", "e@m.py"]
    );
}

#[test]
fn a_later_component_takes_an_earlier_ones_place() {
    let index = index(&[(
        "m.py",
        "x = 1\nclass x: pass\ny = 2\ndef x(): pass\nclass f:\n    def g(self): pass\ndef f():\n    def g(): 'inner'\n",
    )]);
    assert_eq!(ids(&index), ["x@m.py", "y@m.py", "f@m.py", "f.g@m.py"]);
    assert_eq!(one(&index, "x@m.py").source_code, "def x(): pass");
    assert_eq!(one(&index, "f.g@m.py").docstring, "inner");
}

#[test]
fn sources_begin_behind_the_decorators_and_keep_a_last_semicolon() {
    let index = index(&[(
        "m.py",
        "class C:\n    @d(lambda: 1)  # def\n    # class\n    async def f(self):\n        return 1;  # no\n\n    x = 1\n",
    )]);
    let f = one(&index, "C.f@m.py");
    assert_eq!(f.source_code, "async def f(self):\n        return 1;");
    assert_eq!((f.start_line, f.end_line), (4, 5));
}

#[test]
fn a_docstring_is_not_cleaned_and_a_word_stands_for_none() {
    let index = index(&[(
        "m.py",
        "def a():\n    '''One.\n\n      \\x41 é\n    '''\ndef b(): f'no'\ndef c(): ''\nclass D: 'x' \"y\"\n",
    )]);
    assert_eq!(one(&index, "a@m.py").docstring, "One.\n\n      A é\n    ");
    assert_eq!(one(&index, "b@m.py").docstring, "DOCSTRING");
    assert!(!one(&index, "b@m.py").has_docstring);
    assert_eq!(one(&index, "c@m.py").docstring, "");
    assert!(one(&index, "c@m.py").has_docstring);
    assert_eq!(one(&index, "D@m.py").docstring, "xy");
}

#[test]
fn all_methods_of_a_name_share_the_names_of_the_first() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "from lib import helper, LIMIT\nclass A:\n    def f(self): helper()\nclass B:\n    def f(self): LIMIT\n",
        ),
    ]);
    assert_eq!(uses(&index, "A.f@m.py"), ["helper@lib.py"]);
    assert_eq!(uses(&index, "B.f@m.py"), ["helper@lib.py"]);
    assert_eq!(uses(&index, "B@m.py"), ["LIMIT@lib.py"]);
}

#[test]
fn a_guarded_function_may_have_the_names_of_a_method() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "from lib import helper, LIMIT\nclass A:\n    def f(self): LIMIT\nif A:\n    def f(): helper()\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["LIMIT@lib.py"]);
    // And what holds that method is taken for what holds the function.
    assert!(noise(&index, "f@m.py").iter().all(|id| id != "A@m.py"));
}

#[test]
fn an_inner_function_below_an_if_has_no_dependencies() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "from lib import helper\ndef f():\n    def g(): helper()\n    if g:\n        def h(): helper()\n",
        ),
    ]);
    assert_eq!(uses(&index, "f.g@m.py"), ["helper@lib.py"]);
    assert!(uses(&index, "f.h@m.py").is_empty());
}

#[test]
fn a_name_is_local_from_its_first_plain_assignment_on() {
    let index = index(&[(
        "m.py",
        "def x(): pass\ndef y(): pass\ndef z(): pass\ndef w(): pass\ndef f():\n    x()\n    x = y = 1\n    y()\n    z, w = 1, 2\n    z(), w()\n",
    )]);
    assert_eq!(uses(&index, "f@m.py"), ["x@m.py", "z@m.py", "w@m.py"]);
}

#[test]
fn a_body_is_seen_before_its_decorators_and_result() {
    let index = index(&[(
        "m.py",
        "def d(): pass\nclass R: pass\nclass S: pass\n@d\ndef f(a: S) -> R:\n    d = R = S = 1\n",
    )]);
    assert_eq!(uses(&index, "f@m.py"), ["S@m.py"]);
}

#[test]
fn loop_with_walrus_and_except_targets_are_not_local() {
    let index = index(&[(
        "m.py",
        "def a(): pass\ndef b(): pass\ndef c(): pass\ndef d(): pass\ndef f(xs):\n    for a in xs: a()\n    with xs as b: b()\n    if (c := 1): c()\n    try: pass\n    except E as d: d()\n",
    )]);
    assert_eq!(
        uses(&index, "f@m.py"),
        ["a@m.py", "b@m.py", "c@m.py", "d@m.py"]
    );
}

#[test]
fn only_positional_or_keyword_parameters_are_local_and_in_classes_none() {
    let text = "def a(): pass\ndef b(): pass\ndef c(): pass\ndef d(): pass\ndef e(): pass\ndef f(a, /, b, *c, d, **e): a, b, c, d, e\nclass C:\n    def g(self, b): b\n";
    let index = index(&[("m.py", text)]);
    assert_eq!(
        uses(&index, "f@m.py"),
        ["a@m.py", "c@m.py", "d@m.py", "e@m.py"]
    );
    assert!(uses(&index, "C.g@m.py").is_empty());
    assert_eq!(uses(&index, "C@m.py"), ["b@m.py"]);
}

#[test]
fn nested_functions_share_one_set_of_local_names() {
    let index = index(&[(
        "m.py",
        "def a(): pass\ndef b(): pass\ndef f():\n    def g(b):\n        a = 1\n        b()\n    a()\n",
    )]);
    assert_eq!(uses(&index, "f@m.py"), ["b@m.py"]);
}

#[test]
fn builtins_and_receivers_are_not_looked_up_but_a_builtins_attribute_is() {
    let index = index(&[
        ("lib.py", "def open(): pass\ndef self(): pass\n"),
        (
            "m.py",
            "from lib import open, self\ndef f(): open(), self.x, self\ndef g(): open.x\ndef print(): print()\n",
        ),
    ]);
    assert!(uses(&index, "f@m.py").is_empty());
    assert_eq!(uses(&index, "g@m.py"), ["open@lib.py"]);
    assert!(uses(&index, "print@m.py").is_empty());
}

#[test]
fn attributes_of_self_and_of_modules_and_strings_lead_nowhere() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "import lib\nclass C:\n    def f(self, a: 'C'): return self.g() + lib.helper()\n    def g(self): pass\n",
        ),
    ]);
    assert!(uses(&index, "C.f@m.py").is_empty());
    assert_eq!(noise(&index, "C.f@m.py"), ["Base@lib.py", "helper@lib.py"]);
}

#[test]
fn defaults_annotations_bases_keywords_and_decorators_are_read() {
    let index = index(&[(
        "m.py",
        "A = 1\nclass B: pass\ndef d(): pass\n@d\ndef f(a: B = A): pass\n@d\nclass C(B, k=A): pass\n",
    )]);
    assert_eq!(uses(&index, "f@m.py"), ["B@m.py", "d@m.py", "A@m.py"]);
    assert_eq!(uses(&index, "C@m.py"), ["B@m.py", "d@m.py", "A@m.py"]);
}

#[test]
fn names_from_a_module_resolve_with_and_without_another_name() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "from lib import helper as h, Base\ndef f(): return h() + h.x + Base\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["Base@lib.py", "helper@lib.py"]);
}

#[test]
fn a_star_gives_what_the_module_defines_and_hides_names_beside_it() {
    let index = index(&[
        LIBRARY,
        ("other.py", "from lib import helper\n"),
        (
            "m.py",
            "from other import *\nfrom other import missing\nfrom lib import *\nfrom lib import absent\ndef missing(): pass\ndef f(): return helper(), missing(), absent\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["helper@lib.py", "missing@m.py"]);
}

#[test]
fn a_module_behind_as_is_read_as_a_component_of_itself() {
    let index = index(&[
        ("lib.py", "def x(): pass\n"),
        (
            "m.py",
            "import lib as x\nimport lib as y\ndef f(): return x, y\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["x@lib.py"]);
}

#[test]
fn a_name_called_py_behind_as_is_taken_for_a_modules() {
    // `lib.py`, the alias's target, ends like a file.
    let index = index(&[
        ("lib.py", "def py(): pass\ndef p(): pass\n"),
        ("m.py", "from lib import py as p\ndef f(): return p\n"),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["p@lib.py"]);
}

#[test]
fn an_absolute_import_means_the_file_beside_it_first() {
    let index = index(&[
        ("lib.py", "def f(): pass\n"),
        ("pkg/lib.py", "def f(): pass\n"),
        ("pkg/m.py", "from lib import f\ndef g(): f()\n"),
        ("pkg/sub/m.py", "from lib import f\ndef g(): f()\n"),
    ]);
    assert_eq!(uses(&index, "g@pkg/m.py"), ["f@pkg/lib.py"]);
    assert_eq!(uses(&index, "g@pkg/sub/m.py"), ["f@lib.py"]);
}

#[test]
fn relative_imports_go_up_and_fall_back_to_absolute_ones() {
    let index = index(&[
        ("lib.py", "def f(): pass\n"),
        ("a/lib.py", "def f(): pass\n"),
        ("a/b/m.py", "from ..lib import f\ndef g(): f()\n"),
        ("a/b/c/d.py", "from .lib import f\ndef g(): f()\n"),
        ("a/b/c/e.py", "from ......lib import f\ndef g(): f()\n"),
    ]);
    assert_eq!(uses(&index, "g@a/b/m.py"), ["f@a/lib.py"]);
    assert_eq!(uses(&index, "g@a/b/c/d.py"), ["f@lib.py"]);
    assert_eq!(uses(&index, "g@a/b/c/e.py"), ["f@lib.py"]);
}

#[test]
fn a_package_is_never_meant_and_a_file_of_its_name_is() {
    let index = index(&[
        ("pkg/__init__.py", "def f(): pass\n"),
        (
            "pkg/m.py",
            "from . import f\nfrom pkg import f as g\ndef h(): f(), g()\n",
        ),
        ("two.py", "def f(): pass\n"),
        ("two/m.py", "from . import f\ndef h(): f()\n"),
    ]);
    assert!(uses(&index, "h@pkg/m.py").is_empty());
    assert_eq!(uses(&index, "h@two/m.py"), ["f@two.py"]);
}

#[test]
fn names_of_standard_modules_are_passed_over_except_where_a_class_calls_their_methods() {
    let index = index(&[
        ("logging.py", "def get(): pass\n"),
        (
            "m.py",
            "from logging import get\ndef get(): pass\ndef f(): get.x(), get()\nclass C: get.x()\nclass D: get()\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["get@m.py"]);
    assert_eq!(uses(&index, "C@m.py"), ["get@logging.py", "get@m.py"]);
    assert_eq!(uses(&index, "D@m.py"), ["get@m.py"]);
    assert_eq!(external(&index, "m.py"), ["get@logging.py"]);
}

#[test]
fn an_id_that_does_not_exist_stands_for_the_first_that_begins_with_it() {
    let index = index(&[
        ("m.py", "def f(): return ghost\n"),
        ("m.py.d/n.py", "def ghost(): pass\n"),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["ghost@m.py.d/n.py"]);
}

#[test]
fn a_component_may_depend_on_itself_but_not_on_what_holds_it() {
    let index = index(&[(
        "m.py",
        "def f(): f()\nclass C:\n    x = 1\n    def g(self): return C, f\ndef h():\n    def i(): return h, C\n",
    )]);
    assert_eq!(uses(&index, "f@m.py"), ["f@m.py"]);
    assert_eq!(uses(&index, "C.g@m.py"), ["f@m.py"]);
    assert_eq!(uses(&index, "h.i@m.py"), ["C@m.py"]);
    assert_eq!(noise(&index, "h.i@m.py"), ["f@m.py"]);
}

#[test]
fn noise_is_what_is_imported_and_the_files_own_without_variables_and_with_repetitions() {
    let index = index(&[
        LIBRARY,
        (
            "m.py",
            "import lib\nfrom lib import helper\nV = 1\nclass C:\n    def g(self): pass\ndef f(): V\n",
        ),
    ]);
    assert_eq!(uses(&index, "f@m.py"), ["V@m.py"]);
    assert_eq!(
        noise(&index, "f@m.py"),
        ["Base@lib.py", "C@m.py", "helper@lib.py", "helper@lib.py"]
    );
}

#[test]
fn a_variable_takes_what_holds_its_namesake_for_what_holds_it() {
    let index = index(&[(
        "m.py",
        "x = 1\ny = 1\nclass C:\n    def x(self): pass\ndef f(): pass\n",
    )]);
    assert_eq!(noise(&index, "x@m.py"), ["f@m.py"]);
    assert_eq!(noise(&index, "y@m.py"), ["C@m.py", "f@m.py"]);
}

#[test]
fn the_names_of_a_package_are_searched_for_in_every_file_below_it() {
    let index = index(&[
        ("pkg/__init__.py", "def own(): pass\n"),
        ("pkg/a.py", "def f(): pass\n"),
        ("pkg/sub/b.py", "def g(): pass\ndef h(): pass\n"),
        ("pkg/z.py", "def f(): pass\n"),
        (
            "m.py",
            "from pkg import f, g, own, h as f\nfrom pkg import k as h\n",
        ),
    ]);
    // `h as f` gives `f` the name `h`; the search goes by `f`, `f` and `h`.
    assert_eq!(
        external(&index, "m.py"),
        [
            "h@pkg/a.py",
            "g@pkg/sub/b.py",
            "h@pkg/a.py",
            "k@pkg/sub/b.py"
        ]
    );
    // The first two aren't defined there.
    let file = index.external_knowledge[&RepoPath::new("m.py").expect("a path")].clone();
    assert_eq!(
        file.import_statements,
        [
            "from pkg import f, g, own, h as f",
            "from pkg import k as h"
        ]
    );
}

#[test]
fn statements_are_written_on_one_line_from_wherever_they_stand() {
    let index = index(&[(
        "m.py",
        "def f():\n    if f:\n        from ..a.b import (\n            c,  # why\n            d as e,\n        )\nimport x.y as z, w\nfrom . import *\n",
    )]);
    let file = &index.external_knowledge[&RepoPath::new("m.py").expect("a path")];
    assert_eq!(
        file.import_statements,
        [
            "from ..a.b import c, d as e",
            "import x.y as z, w",
            "from . import *"
        ]
    );
}

#[test]
fn a_file_that_python_refuses_has_no_components_but_is_still_a_module() {
    let deep = format!("x = {}1{}\n", "(".repeat(201), ")".repeat(201));
    let index = index(&[
        ("bad.py", "def f(:\n"),
        ("deep.py", &deep),
        ("mark.py", "\u{feff}x = 1\n"),
        ("nul.py", "x = '\0'\n"),
        ("old/bad.py", "def f(): pass\n"),
        ("old/m.py", "from ..bad import f\ndef g(): f()\n"),
    ]);
    let skipped: Vec<_> = index.skipped.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(skipped, ["bad.py", "deep.py", "mark.py", "nul.py"]);
    assert_eq!(ids(&index), ["f@old/bad.py", "g@old/m.py"]);
    // `..bad` is the file that can't be parsed, so nothing is found; yet it isn't looked for elsewhere.
    assert!(uses(&index, "g@old/m.py").is_empty());
}

#[test]
fn carriage_returns_are_line_ends() {
    let index = index(&[("m.py", "def f():\r\n    '''a\r\n    b'''\rX = 1\r")]);
    let f = one(&index, "f@m.py");
    assert_eq!(f.source_code, "def f():\n    '''a\n    b'''");
    assert_eq!(f.docstring, "a\n    b");
    assert_eq!(one(&index, "X@m.py").start_line, 4);
}

#[test]
fn a_record_has_the_published_fields_in_their_order() {
    let index = index(&[("a/m.py", "X = 1\n")]);
    let record = index.record(one(&index, "X@a/m.py"));
    assert_eq!(
        serde_json::to_string(&record).expect("plain data"),
        r#"{"id":"X@a/m.py","component_type":"variable","clean_name":"X","file_path":"/repo/a/m.py","relative_path":"a/m.py","outgoing_calls":{"class":[],"function":[],"variable":[]},"start_line":1,"end_line":1,"has_docstring":false,"docstring":"","source_code":"X = 1","noise":{"class":[],"function":[],"variable":[]},"out_count":0,"signature":""}"#
    );
}
