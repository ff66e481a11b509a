//! Writes mutants into source files: each condition, comparison, guard, statement and return value once
//! as it is and once changed, the change behind `crate::switch::on("its name")`. One build then holds all
//! mutants, where a tool that writes one after the other would build hundreds of times.
//!
//! Usage: belay-mutants ROOT FILE…   (rewrites the files; prints each mutant's name)

use std::collections::HashMap;
use std::path::Path;
use std::{env, fs};

use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, BinOp, Block, Expr, ExprBinary, ExprIf, ExprMatch, ImplItemConst, ImplItemFn, ItemConst,
    ItemFn, ItemMod, ItemStatic, Pat, ReturnType, Signature, Stmt, Type, parse_quote,
};

/// Methods whose closure answers yes or no.
const PREDICATES: [&str; 9] = [
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_some_and",
    "position",
    "retain",
    "take_while",
];

fn main() {
    let mut arguments = env::args().skip(1);
    let root = arguments.next().expect("the root");
    for file in arguments {
        let path = Path::new(&root).join(&file);
        let text = fs::read_to_string(&path).expect("a source file");
        let mut tree = syn::parse_file(&text).expect("Rust");
        let mut mutator = Mutator {
            file: file.trim_start_matches("src/").to_owned(),
            function: String::new(),
            names: HashMap::new(),
        };
        mutator.visit_file_mut(&mut tree);
        fs::write(&path, prettyplease::unparse(&tree)).expect("to write it");
    }
}

struct Mutator {
    file: String,
    function: String,
    /// How often each name was given: equal ones are numbered.
    names: HashMap<String, usize>,
}

impl Mutator {
    /// Names a mutant and gives the expression that says whether it is on. The name holds the code
    /// and not its line, so that it stays when other code moves.
    fn switch(&mut self, what: &str) -> Expr {
        let mut name = format!("{} {}: {what}", self.file, self.function);
        let count = self.names.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name = format!("{name} #{count}");
        }
        println!("{name}");
        parse_quote!(crate::switch::on(#name))
    }

    /// `expr`, which was written as `text`, once taken for true and once for false.
    fn answer(&mut self, expr: &mut Expr, text: &str, true_too: bool, false_too: bool) {
        if !is_plain(expr) {
            return;
        }
        if true_too {
            let on = self.switch(&format!("`{text}` taken for true"));
            let old = &*expr;
            *expr = parse_quote!((#on || #old));
        }
        if false_too {
            let on = self.switch(&format!("`{text}` taken for false"));
            let old = &*expr;
            *expr = parse_quote!((!#on && #old));
        }
    }

    fn comparison(&mut self, expr: &ExprBinary, text: &str) -> Expr {
        let (left, right) = (&expr.left, &expr.right);
        let on = self.switch(&format!("`{text}` negated"));
        let negated: Expr = parse_quote!((#on ^ (#expr)));
        let other: Option<BinOp> = match expr.op {
            BinOp::Lt(_) => Some(parse_quote!(<=)),
            BinOp::Le(_) => Some(parse_quote!(<)),
            BinOp::Gt(_) => Some(parse_quote!(>=)),
            BinOp::Ge(_) => Some(parse_quote!(>)),
            _ => None,
        };
        let Some(other) = other else { return negated };
        let on = self.switch(&format!("`{text}` with {}", other.to_token_stream()));
        parse_quote!((if #on { #left #other #right } else { #negated }))
    }

    fn arithmetic(&mut self, expr: &ExprBinary, text: &str, other: &BinOp) -> Expr {
        let on = self.switch(&format!("`{text}` with {}", other.to_token_stream()));
        let (left, right) = (&expr.left, &expr.right);
        parse_quote!((if #on { #left #other #right } else { #expr }))
    }

    fn body(&mut self, signature: &Signature, block: &mut Block) {
        let ReturnType::Type(_, kind) = &signature.output else {
            return;
        };
        for value in returns(kind) {
            let on = self.switch(&format!("returns {}", shown(&value)));
            block
                .stmts
                .insert(0, parse_quote!(if #on { return #value; }));
        }
    }

    fn function(&mut self, signature: &Signature, block: &mut Block) {
        let outer = std::mem::replace(&mut self.function, signature.ident.to_string());
        visit_mut::visit_block_mut(self, block);
        self.body(signature, block);
        self.function = outer;
    }
}

/// What a function of this type could give instead.
fn returns(kind: &Type) -> Vec<Expr> {
    let Type::Path(path) = kind else {
        return Vec::new();
    };
    let Some(last) = path.path.segments.last() else {
        return Vec::new();
    };
    match last.ident.to_string().as_str() {
        "bool" => vec![parse_quote!(true), parse_quote!(false)],
        "Option" => vec![parse_quote!(None)],
        "Vec" | "String" | "BTreeSet" | "BTreeMap" | "HashMap" => {
            vec![parse_quote!(Default::default())]
        }
        _ => Vec::new(),
    }
}

/// No `let` chain, no nest of conditions (its parts are looked at), no switch.
fn is_plain(expr: &Expr) -> bool {
    let nest = match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_) | BinOp::Or(_)),
        _ => false,
    };
    // A comparison has its own mutants, but being without it is another one.
    !nest && !is_reason_switch(expr)
}

/// A switch of scripts/mutants' own, or what it does.
fn is_reason_switch(expr: &Expr) -> bool {
    let text = expr.to_token_stream().to_string();
    text.contains("\"reason:") || text.contains(". mutate ()")
}

/// Code as it is written, on one line. To be asked before anything in it is mutated.
fn shown(code: &impl ToTokens) -> String {
    let written = code.span().source_text();
    let text = written.unwrap_or_else(|| code.to_token_stream().to_string());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(90) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

impl VisitMut for Mutator {
    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        let tests = module
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("cfg"));
        if !tests {
            visit_mut::visit_item_mod_mut(self, module);
        }
    }

    // What is computed while compiling has no switches.
    fn visit_item_const_mut(&mut self, _: &mut ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut ImplItemConst) {}

    fn visit_item_fn_mut(&mut self, item: &mut ItemFn) {
        let signature = item.sig.clone();
        self.function(&signature, &mut item.block);
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut ImplItemFn) {
        // scripts/mutants' own.
        if item.sig.ident != "mutate" {
            let signature = item.sig.clone();
            self.function(&signature, &mut item.block);
        }
    }

    fn visit_expr_if_mut(&mut self, expr: &mut ExprIf) {
        let text = shown(&expr.cond);
        visit_mut::visit_expr_if_mut(self, expr);
        self.answer(&mut expr.cond, &text, true, true);
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let text = arm.guard.as_ref().map(|(_, guard)| shown(guard));
        visit_mut::visit_arm_mut(self, arm);
        if let (Some((_, guard)), Some(text)) = (&mut arm.guard, text) {
            self.answer(guard, &text, true, true);
        }
    }

    fn visit_expr_match_mut(&mut self, expr: &mut ExprMatch) {
        visit_mut::visit_expr_match_mut(self, expr);
        let rest = |arm: &Arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none();
        if !expr.arms.last().is_some_and(rest) {
            return;
        }
        let named = expr.arms.len() - 1;
        for arm in &mut expr.arms[..named] {
            if arm.guard.is_none() {
                let on = self.switch(&format!("without the arm `{}`", shown(&arm.pat)));
                arm.guard = Some((Default::default(), parse_quote!(!#on)));
            }
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let text = shown(expr);
        let parts = match &*expr {
            Expr::Binary(binary) => Some((shown(&binary.left), shown(&binary.right))),
            _ => None,
        };
        let closure = match &*expr {
            Expr::MethodCall(call) => match call.args.first() {
                Some(Expr::Closure(closure)) => Some(shown(&closure.body)),
                _ => None,
            },
            _ => None,
        };
        visit_mut::visit_expr_mut(self, expr);
        match expr {
            Expr::Binary(binary) => {
                let (left, right) = parts.unwrap_or_default();
                match binary.op {
                    BinOp::And(_) => {
                        self.answer(&mut binary.left, &left, true, false);
                        self.answer(&mut binary.right, &right, true, false);
                    }
                    BinOp::Or(_) => {
                        self.answer(&mut binary.left, &left, false, true);
                        self.answer(&mut binary.right, &right, false, true);
                    }
                    BinOp::Eq(_)
                    | BinOp::Ne(_)
                    | BinOp::Lt(_)
                    | BinOp::Le(_)
                    | BinOp::Gt(_)
                    | BinOp::Ge(_) => *expr = self.comparison(binary, &text),
                    BinOp::Add(_) => *expr = self.arithmetic(binary, &text, &parse_quote!(-)),
                    BinOp::Sub(_) => *expr = self.arithmetic(binary, &text, &parse_quote!(+)),
                    _ => {}
                }
            }
            Expr::MethodCall(call) if PREDICATES.contains(&call.method.to_string().as_str()) => {
                if let (Some(Expr::Closure(closure)), Some(text)) = (call.args.first_mut(), closure)
                {
                    self.answer(&mut closure.body, &text, true, true);
                }
            }
            _ => {}
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let text = shown(stmt);
        visit_mut::visit_stmt_mut(self, stmt);
        let Stmt::Expr(expr, Some(_)) = stmt else {
            return;
        };
        let deletable = match &*expr {
            Expr::MethodCall(_) | Expr::Assign(_) | Expr::Try(_) | Expr::Call(_) => true,
            Expr::Binary(binary) => {
                matches!(binary.op, BinOp::AddAssign(_) | BinOp::BitOrAssign(_))
            }
            _ => false,
        };
        if deletable && !is_reason_switch(expr) {
            let on = self.switch(&format!("without `{text}`"));
            *stmt = parse_quote!(if !#on { #expr; });
        }
    }
}
