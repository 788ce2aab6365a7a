//! What is a unit, and what is kept of it.

use hydra_core::RepoPath;
use hydra_pyindex::{RepoIndex, Role, Unit, UnitKind};

fn units(text: &str) -> Vec<Unit> {
    let path = RepoPath::new("a.py").expect("a path");
    let index = RepoIndex::from_sources([(path, text.to_owned())]).expect("threads");
    index.units().cloned().collect()
}

fn named<'u>(units: &'u [Unit], id: &str) -> &'u Unit {
    let found = units.iter().find(|u| u.id.as_str() == id);
    found.unwrap_or_else(|| panic!("no unit {id} in {:?}", ids(units)))
}

fn ids(units: &[Unit]) -> Vec<&str> {
    units.iter().map(|u| u.id.as_str()).collect()
}

#[test]
fn every_kind_of_variable_is_a_unit_where_it_is_first_assigned() {
    let units = units(
        "a = 1\nb: int = 2\nc: int\nd, (e, *f) = 1, (2, 3)\n[g] = [4]\nh = i = 5\nj += 1\n\
         if (k := 6): l = 7\nelse: m = 8\ntry:\n    n = 9\nexcept E as o:\n    pass\n\
         with x() as p:\n    q = 1\nfor r in y:\n    s = 2\na = 10\n__all__ = ['a']\n\
         type T = int\nU: TypeAlias = int\nobj.attr = 1\nobj[0] = 2\n",
    );
    let names: Vec<_> = units.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "q", "s",
            "__all__", "T", "U"
        ]
    );
    assert!(units.iter().all(|u| u.kind == UnitKind::Variable));
    assert_eq!(named(&units, "a@a.py").source, "a = 1");
    assert_eq!(named(&units, "e@a.py").source, "d, (e, *f) = 1, (2, 3)");
    assert_eq!(named(&units, "__all__@a.py").roles, [Role::Exports]);
    assert_eq!(named(&units, "T@a.py").roles, [Role::TypeAlias]);
    assert_eq!(named(&units, "U@a.py").roles, [Role::TypeAlias]);
}

#[test]
fn definitions_nest_and_say_what_they_are() {
    let units = units(
        "if X:\n    class C:\n        class D:\n            def m(self):\n                def inner(): pass\n\
         \x20       @property\n        def p(self): pass\n        @p.setter\n        def p(self, v): pass\n\
         \x20       @p.deleter\n        def p(self): pass\n        @staticmethod\n        def s(): pass\n\
         \x20       @classmethod\n        async def c(cls): pass\n        def __new__(cls): pass\n\
         @overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): ...\n",
    );
    assert_eq!(
        ids(&units),
        [
            "C@a.py",
            "C.D@a.py",
            "C.D.m@a.py",
            "C.D.m.inner@a.py",
            "C.p@a.py",
            "C.p@a.py#2",
            "C.p@a.py#3",
            "C.s@a.py",
            "C.c@a.py",
            "C.__new__@a.py",
            "f@a.py",
            "f@a.py#2",
            "f@a.py#3",
        ]
    );
    let roles = |id: &str| named(&units, id).roles.clone();
    assert_eq!(roles("C.p@a.py"), [Role::Property]);
    assert_eq!(roles("C.p@a.py#2"), [Role::Setter]);
    assert_eq!(roles("C.p@a.py#3"), [Role::Deleter]);
    assert_eq!(roles("C.s@a.py"), [Role::StaticMethod]);
    assert_eq!(roles("C.c@a.py"), [Role::Async, Role::ClassMethod]);
    assert_eq!(roles("C.__new__@a.py"), [Role::ClassMethod]);
    assert_eq!(roles("f@a.py#2"), [Role::Overload]);
    let kind = |id: &str| named(&units, id).kind;
    assert_eq!(kind("C.D.m@a.py"), UnitKind::Method);
    assert_eq!(kind("C.D.m.inner@a.py"), UnitKind::Function);
    let parent = named(&units, "C.D.m.inner@a.py").parent.clone();
    assert_eq!(parent, Some("C.D.m@a.py".into()));
}

#[test]
fn attributes_are_those_of_the_class_and_those_that_methods_give() {
    let units = units(
        "@dataclass\nclass Point:\n    x: int = 0\n    y: int\n    KIND = 'p'\n\
         class Color(Enum):\n    RED = 1\n    _hidden = 2\n\
         class Service:\n    limit = 3\n    def __init__(self, store):\n        self.store = store\n\
         \x20       self.limit = 4\n        self.a, self.b = 1, 2\n        store.other = 5\n\
         \x20   def run(self):\n        self.started: bool = True\n        self.run = 6\n",
    );
    let role = |id: &str| named(&units, id).roles.clone();
    assert_eq!(role("Point.x@a.py"), [Role::Field]);
    assert_eq!(role("Point.y@a.py"), [Role::Field]);
    assert!(role("Point.KIND@a.py").is_empty());
    assert_eq!(role("Color.RED@a.py"), [Role::EnumMember]);
    assert!(role("Color._hidden@a.py").is_empty());
    for id in ["store", "a", "b", "started"] {
        let unit = named(&units, &format!("Service.{id}@a.py")).clone();
        assert_eq!(unit.roles, [Role::InstanceAttribute], "{id}");
        assert_eq!(unit.kind, UnitKind::Attribute);
        assert_eq!(unit.parent, Some("Service@a.py".into()));
    }
    assert_eq!(
        named(&units, "Service.store@a.py").source,
        "self.store = store"
    );
    let services = ids(&units);
    let services = services.iter().filter(|id| id.starts_with("Service."));
    // `limit` belongs to the class and `run` is a method.
    assert_eq!(services.count(), 7);
}

#[test]
fn a_unit_keeps_its_text_from_the_comment_above_to_the_end() {
    let text = "#!/usr/bin/env python\n# coding: utf-8\n\n# Not this.\n\n# The price\n# of an order.\n\
                @cached(\n    size=3,\n)\n@traced\nasync def price(\n    order,  # which one\n    rate: \"int\" = 2,\n) -> int:\n\
                \x20   \"\"\"Say it.\n\n\x20     More.\n    \"\"\"\n    return 1\n\nclass C:\n    # above\n    def m(self): pass\n";
    let units = units(text);
    let price = named(&units, "price@a.py");
    assert_eq!(
        (price.start_line, price.head_line, price.end_line),
        (6, 12, 20)
    );
    assert!(
        price
            .source
            .starts_with("# The price\n# of an order.\n@cached(")
    );
    assert!(price.source.ends_with("return 1"));
    assert_eq!(&text[price.start_byte..price.end_byte], price.source);
    assert_eq!(
        price.signature,
        "async def price( order, rate: \"int\" = 2, ) -> int:"
    );
    assert_eq!(price.docstring.as_deref(), Some("Say it.\n\nMore."));
    assert_eq!(
        price.raw_docstring.as_deref(),
        Some("Say it.\n\n      More.\n    ")
    );
    let method = named(&units, "C.m@a.py");
    assert_eq!(method.source, "# above\ndef m(self): pass");
    assert_eq!((method.start_line, method.head_line), (23, 24));
}

#[test]
fn line_ends_tabs_and_form_feeds_keep_their_places() {
    let text =
        "x = 1\r\n# above\r\ndef f():\r\n\t'''a\r\n\tb'''\r\n\treturn x\r\n\x0c\r\ny = 2\r\n";
    let units = units(text);
    assert_eq!(ids(&units), ["x@a.py", "f@a.py", "y@a.py"]);
    let f = named(&units, "f@a.py");
    assert_eq!((f.start_line, f.head_line, f.end_line), (2, 3, 6));
    assert_eq!(f.docstring.as_deref(), Some("a\nb"));
    assert_eq!(named(&units, "y@a.py").start_line, 8);
}
