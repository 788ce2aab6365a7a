//! Functions and classes.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::TextRange;

use super::{ClassFrame, Lowering, Member, Receiver, offset};
use crate::outline::{Binding, Local, ScopeKind, Sym, UseId};
use crate::source;
use crate::unit::{EdgeKind, Role, Roles, UnitKind};

impl Lowering<'_> {
    /// A class or function: its text, from the first decorator or the comment above on.
    pub(super) fn definition(&self, range: TextRange, name: TextRange, keywords: &[&str]) -> u32 {
        // Back from the name over `def` or `class`, and over `async`.
        let start = offset(range.start()) as usize;
        let mut at = offset(name.start()) as usize;
        for keyword in keywords {
            let before =
                self.text[start..at].trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
            if let Some(rest) = before.strip_suffix(keyword) {
                at = start + rest.len();
            }
        }
        at as u32
    }

    pub(super) fn function(&mut self, f: &ast::StmtFunctionDef) {
        if f.name.id.is_empty() {
            // The parser has recovered from a definition without a name.
            return self.statements(&f.body);
        }
        let name = self.intern(&f.name.id);
        let class = match self.kind_of(self.scope) {
            ScopeKind::Class => self.classes.len().checked_sub(1),
            _ => None,
        };
        let kind = match class {
            Some(_) => UnitKind::Method,
            None => UnitKind::Function,
        };
        let roles = function_roles(f, class.is_some());
        let keywords: &[&str] = if f.is_async {
            &["def", "async"]
        } else {
            &["def"]
        };
        let head = self.definition(f.range, f.name.range, keywords);
        let accessor = roles.contains(Role::Setter) || roles.contains(Role::Deleter);
        let implicit_class = roles.contains(Role::ClassMethod);
        let is_static = roles.contains(Role::StaticMethod);
        let unit = self.add_unit(kind, name, roles, f.range, head);
        self.docstring(unit, &f.body);
        // The setter of a property has its name; reading the name still means the property.
        if !accessor || !self.is_bound(name) {
            self.bind(name, Binding::Unit(unit));
        }
        if kind == UnitKind::Function && self.scope == 0 && &*f.name.id == "__getattr__" {
            self.body.dynamic = true;
        }

        // Decorators, defaults and annotations are evaluated outside but belong to the function.
        let owner = self.owner.replace(unit);
        for decorator in &f.decorator_list {
            self.expression(&decorator.expression, EdgeKind::Decorate);
        }
        self.with_type_parameters(f.type_params.as_deref(), |lowering| {
            let known = lowering.parameters(&f.parameters);
            if let Some(returns) = &f.returns {
                for binding in lowering.annotation(returns) {
                    lowering.body.returns.push((unit, binding));
                }
            }
            let outer = (lowering.receiver, lowering.unannotated);
            lowering.unannotated = f.returns.is_none().then_some(unit);
            lowering.within(ScopeKind::Function, Some(unit), |inside| {
                let mut known = known;
                if let (Some(frame), false) = (class, is_static) {
                    let first = f
                        .parameters
                        .posonlyargs
                        .first()
                        .or(f.parameters.args.first());
                    if let Some(first) = first {
                        let name = inside.intern(&first.parameter.name.id);
                        let class = inside.classes[frame].unit;
                        inside.receiver = Some(Receiver { name, frame });
                        let binding = if implicit_class {
                            Binding::Class(class)
                        } else {
                            Binding::Instance(class)
                        };
                        inside.bind(name, binding);
                        known.retain(|(other, _)| *other != name);
                    }
                } else if class.is_some() {
                    inside.receiver = None;
                }
                for (name, bindings) in known {
                    inside.bind_all(name, &bindings);
                }
                inside.statements(&f.body);
            });
            (lowering.receiver, lowering.unannotated) = outer;
        });
        self.owner = owner;
    }

    fn docstring(&mut self, unit: Local, body: &[Stmt]) {
        let Some(Stmt::Expr(first)) = body.first() else {
            return;
        };
        let Expr::StringLiteral(literal) = &*first.value else {
            return;
        };
        let text = literal.value.to_str();
        // Python reads every line end as \n.
        let text = match text.contains('\r') {
            true => &*text.replace("\r\n", "\n").replace('\r', "\n"),
            false => text,
        };
        self.facts.units[unit as usize].docstring = Some(self.facts.add(text));
    }

    pub(super) fn is_bound(&self, name: Sym) -> bool {
        self.bounds(self.scope, name).next().is_some()
    }

    /// Reads annotations and defaults; gives the parameters with what is known of them.
    pub(super) fn parameters(&mut self, all: &ast::Parameters) -> Vec<(Sym, Vec<Binding>)> {
        let mut known = Vec::new();
        let ordinary = all
            .posonlyargs
            .iter()
            .chain(&all.args)
            .chain(&all.kwonlyargs);
        for parameter in ordinary {
            let name = self.intern(&parameter.parameter.name.id);
            let annotation = parameter.parameter.annotation.as_deref();
            let mut bindings = annotation.map(|a| self.annotation(a)).unwrap_or_default();
            if let Some(default) = parameter.default.as_deref() {
                let values = self.expression(default, EdgeKind::Read);
                if annotation.is_none() {
                    bindings.extend(values);
                }
            }
            known.push((name, bindings));
        }
        for (parameter, many) in [
            (
                &all.vararg,
                Binding::AnnotatedElements as fn(UseId) -> Binding,
            ),
            (&all.kwarg, Binding::AnnotatedValues),
        ] {
            let Some(parameter) = parameter else { continue };
            let name = self.intern(&parameter.name.id);
            let annotation = parameter.annotation.as_deref();
            let bindings = annotation.map(|a| self.annotation(a)).unwrap_or_default();
            let bindings = bindings.into_iter().filter_map(|b| match b {
                Binding::Annotated(used) => Some(many(used)),
                _ => None,
            });
            known.push((name, bindings.collect()));
        }
        known
    }

    pub(super) fn with_type_parameters(
        &mut self,
        parameters: Option<&ast::TypeParams>,
        inside: impl FnOnce(&mut Self),
    ) {
        let Some(parameters) = parameters else {
            return inside(self);
        };
        let branches = self.branches;
        self.within(ScopeKind::TypeParameters, None, |lowering| {
            for parameter in &parameters.type_params {
                let (name, bound, default) = match parameter {
                    ast::TypeParam::TypeVar(p) => (&p.name, p.bound.as_deref(), &p.default),
                    ast::TypeParam::TypeVarTuple(p) => (&p.name, None, &p.default),
                    ast::TypeParam::ParamSpec(p) => (&p.name, None, &p.default),
                };
                // A value of type T is at least what T is bound to.
                let known = bound.map(|b| lowering.annotation(b)).unwrap_or_default();
                if let Some(default) = default {
                    lowering.annotation(default);
                }
                let name = lowering.intern(&name.id);
                let known: Vec<_> = known
                    .into_iter()
                    .filter_map(|b| match b {
                        Binding::Annotated(used) => Some(Binding::AnnotatedClass(used)),
                        _ => None,
                    })
                    .collect();
                lowering.bind_all(name, &known);
            }
            lowering.branches = branches;
            inside(lowering);
        });
    }

    pub(super) fn class(&mut self, s: &ast::StmtClassDef) {
        if s.name.id.is_empty() {
            return self.statements(&s.body);
        }
        let name = self.intern(&s.name.id);
        let head = self.definition(s.range, s.name.range, &["class"]);
        let unit = self.add_unit(UnitKind::Class, name, Roles::default(), s.range, head);
        self.docstring(unit, &s.body);
        self.bind(name, Binding::Unit(unit));
        let owner = self.owner.replace(unit);
        for decorator in &s.decorator_list {
            self.expression(&decorator.expression, EdgeKind::Decorate);
        }
        self.with_type_parameters(s.type_params.as_deref(), |lowering| {
            for base in s.bases() {
                for value in lowering.expression(base, EdgeKind::Inherit) {
                    if let Binding::Of(used) = value {
                        lowering.body.bases.push((unit, used));
                    }
                }
            }
            for keyword in s.keywords() {
                lowering.expression(&keyword.value, EdgeKind::Read);
            }
            let outer = lowering.receiver.take();
            lowering.within(ScopeKind::Class, Some(unit), |inside| {
                inside.classes.push(ClassFrame {
                    unit,
                    scope: inside.scope,
                    members: members(s),
                    pending: Vec::new(),
                });
                inside.statements(&s.body);
                inside.instance_attributes();
            });
            lowering.receiver = outer;
        });
        self.owner = owner;
    }

    /// Ends a class: its instances' attributes become units where the body has no such member.
    pub(super) fn instance_attributes(&mut self) {
        let Some(frame) = self.classes.pop() else {
            return;
        };
        for attribute in frame.pending {
            self.next_event();
            let member = self.bounds(frame.scope, attribute.name).next().is_some();
            let unit = if member {
                let mut members = self.bounds(frame.scope, attribute.name);
                members.find_map(|b| match b.binding {
                    Binding::Unit(unit) => Some(unit),
                    _ => None,
                })
            } else {
                let unit = self.add_unit_in(
                    Some(frame.unit),
                    frame.scope,
                    UnitKind::Attribute,
                    attribute.name,
                    Role::InstanceAttribute.into(),
                    attribute.statement,
                    offset(attribute.statement.start()),
                );
                let shared = attribute.uses.map(|used| (used, unit));
                self.body.shared.extend(shared);
                Some(unit)
            };
            let Some(unit) = unit else { continue };
            let kind = self.facts.units[unit as usize].kind;
            if kind != UnitKind::Attribute {
                continue;
            }
            self.bound(frame.scope, attribute.name, Binding::Unit(unit), true, true);
            for binding in attribute.bindings {
                self.bound(frame.scope, attribute.name, binding, true, true);
            }
        }
    }
}

fn function_roles(f: &ast::StmtFunctionDef, method: bool) -> Roles {
    let mut roles = Roles::default();
    if f.is_async {
        roles.insert(Role::Async);
    }
    for decorator in &f.decorator_list {
        let accessor = matches!(&decorator.expression, Expr::Attribute(_));
        let role = match source::last_name(&decorator.expression) {
            Some("overload") => Role::Overload,
            Some("setter") if accessor => Role::Setter,
            Some("deleter") if accessor => Role::Deleter,
            Some("staticmethod") => Role::StaticMethod,
            Some("classmethod") => Role::ClassMethod,
            Some(name) if name.ends_with("property") || name == "reify" => Role::Property,
            _ => continue,
        };
        roles.insert(role);
    }
    // Python makes these class methods (and `__new__` takes the class) without being told.
    let implicit = ["__new__", "__init_subclass__", "__class_getitem__"];
    if method && implicit.contains(&f.name.id.as_str()) && !roles.contains(Role::ClassMethod) {
        roles.insert(Role::ClassMethod);
    }
    roles
}

/// What assignments in a class body are.
fn members(s: &ast::StmtClassDef) -> Member {
    const ENUMS: [&str; 5] = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];
    const RECORDS: [&str; 2] = ["NamedTuple", "TypedDict"];
    const MAKERS: [&str; 7] = [
        "dataclass",
        "define",
        "frozen",
        "mutable",
        "attrs",
        "s",
        "attributes",
    ];
    let base = |known: &[&str]| {
        let mut names = s.bases().iter().filter_map(source::last_name);
        names.any(|name| known.contains(&name))
    };
    let made = s
        .decorator_list
        .iter()
        .filter_map(|d| source::last_name(&d.expression))
        .any(|name| MAKERS.contains(&name));
    if base(&ENUMS) {
        Member::Enum
    } else if made || base(&RECORDS) {
        Member::Fields
    } else {
        Member::Plain
    }
}
