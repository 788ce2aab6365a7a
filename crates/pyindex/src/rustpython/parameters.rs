//! Parameters and type parameters.

use ruff_python_ast::{self as ruff, AtomicNodeIndex};
use ruff_text_size::{Ranged, TextLen, TextRange};
use rustpython_parser::ast;

use super::Translation;
use super::tokens::Kind;

impl Translation<'_> {
    pub(super) fn parameters(&self, node: ast::Arguments, range: TextRange) -> ruff::Parameters {
        let all = |list: Vec<ast::ArgWithDefault>| {
            list.into_iter().map(|p| self.with_default(p)).collect()
        };
        ruff::Parameters {
            range,
            node_index: AtomicNodeIndex::NONE,
            posonlyargs: all(node.posonlyargs),
            args: all(node.args),
            vararg: node.vararg.map(|p| Box::new(self.star_parameter(*p))),
            kwonlyargs: all(node.kwonlyargs),
            kwarg: node.kwarg.map(|p| Box::new(self.star_parameter(*p))),
        }
    }

    /// What stands between `lambda` and its colon, if anything does.
    pub(super) fn lambda_parameters(
        &self,
        node: ast::Arguments,
        lambda: TextRange,
        body: TextRange,
    ) -> Option<Box<ruff::Parameters>> {
        let place = self.lambda_header(lambda, body);
        let parameters = self.parameters(node, place);
        (!parameters.is_empty()).then(|| Box::new(parameters))
    }

    fn lambda_header(&self, lambda: TextRange, body: TextRange) -> TextRange {
        if self.inside.is_some() {
            return lambda;
        }
        let start = self.tokens.next_start(lambda.start() + "lambda".text_len());
        let colon = self.tokens.before(body.start(), Kind::Colon);
        match colon.and_then(|c| self.tokens.last_before(c.start())) {
            Some((_, last)) if start < last.end() => TextRange::new(start, last.end()),
            _ => lambda,
        }
    }

    fn with_default(&self, node: ast::ArgWithDefault) -> ruff::ParameterWithDefault {
        let parameter = self.parameter(node.def);
        let default = self.optional(node.default);
        let range = match &default {
            Some(default) => parameter.range.cover(self.with_brackets(default.range())),
            None => parameter.range,
        };
        ruff::ParameterWithDefault {
            range,
            node_index: AtomicNodeIndex::NONE,
            parameter,
            default,
        }
    }

    fn parameter(&self, node: ast::Arg) -> ruff::Parameter {
        let range = self.range(node.range);
        ruff::Parameter {
            range,
            node_index: AtomicNodeIndex::NONE,
            name: self.identifier_starting(node.arg, range),
            annotation: self.optional(node.annotation),
        }
    }

    /// `*args` or `**kwargs`, whose range takes in the stars in ruff's tree.
    fn star_parameter(&self, node: ast::Arg) -> ruff::Parameter {
        let mut parameter = self.parameter(node);
        if self.inside.is_none()
            && let Some((_, stars)) = self.tokens.last_before(parameter.range.start())
        {
            parameter.range = parameter.range.cover(stars);
        }
        parameter
    }

    pub(super) fn type_params(
        &self,
        nodes: Vec<ast::TypeParam>,
        range: Option<TextRange>,
    ) -> Option<Box<ruff::TypeParams>> {
        let range = range.filter(|_| !nodes.is_empty())?;
        Some(Box::new(ruff::TypeParams {
            range,
            node_index: AtomicNodeIndex::NONE,
            type_params: nodes.into_iter().map(|p| self.type_param(p)).collect(),
        }))
    }

    fn type_param(&self, node: ast::TypeParam) -> ruff::TypeParam {
        let node_index = AtomicNodeIndex::NONE;
        match node {
            ast::TypeParam::TypeVar(p) => {
                let range = self.range(p.range);
                ruff::TypeParam::TypeVar(ruff::TypeParamTypeVar {
                    node_index,
                    range,
                    name: self.identifier_starting(p.name, range),
                    bound: self.optional(p.bound),
                    default: None,
                })
            }
            ast::TypeParam::TypeVarTuple(p) => {
                let range = self.range(p.range);
                ruff::TypeParam::TypeVarTuple(ruff::TypeParamTypeVarTuple {
                    node_index,
                    range,
                    name: self.identifier_ending(p.name, range),
                    default: None,
                })
            }
            ast::TypeParam::ParamSpec(p) => {
                let range = self.range(p.range);
                ruff::TypeParam::ParamSpec(ruff::TypeParamParamSpec {
                    node_index,
                    range,
                    name: self.identifier_ending(p.name, range),
                    default: None,
                })
            }
        }
    }
}
