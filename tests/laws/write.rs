//! Writing a tree as YAML, looking one way or another as the tape has it.

use super::node::{Kind, MERGE, Node};
use super::scalar::{self, Context};
use super::tape::Tape;

/// `root` as one document, from column 0, in LF lines.
pub(crate) fn document(root: &Node, looks: &mut Tape<'_>) -> String {
    let form = looks.below(8);
    let mut writer = Writer {
        out: String::new(),
        looks,
        odd_names: false,
        json: form == 6,
    };
    writer.odd_names = writer.looks.rarely(40);
    if form >= 6 {
        writer.flow(root, 0);
        writer.out.push('\n');
    } else if let Kind::Mapping(entries) = &root.kind {
        writer.entries(entries, 0, false);
    }
    writer.out
}

/// What stands before a node on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Key,
    Dash,
}

struct Writer<'l, 'b> {
    out: String,
    looks: &'l mut Tape<'b>,
    /// Anchors are called `a:1`, which the two YAMLs read differently.
    odd_names: bool,
    json: bool,
}

impl Writer<'_, '_> {
    fn entries(&mut self, entries: &[(String, Node)], indent: usize, first_inline: bool) {
        for (index, (key, node)) in entries.iter().enumerate() {
            if index > 0 || !first_inline {
                self.between_lines(indent);
                self.spaces(indent);
            }
            self.key(key, Context::Block { indent });
            self.out.push(':');
            self.value(node, indent, After::Key);
        }
    }

    /// Comments and blank lines, which belong to nobody.
    fn between_lines(&mut self, indent: usize) {
        match self.looks.below(16) {
            13 => self.out.push('\n'),
            14 => self
                .out
                .push_str("# image: docker.io/tracebloc/jobs-manager:é😀\n"),
            15 => {
                self.spaces(indent);
                self.out.push_str("# note\n");
            }
            _ => {}
        }
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    fn key(&mut self, key: &str, context: Context) {
        if key == MERGE {
            self.out.push_str(key);
        } else if self.json {
            scalar::json(&mut self.out, key);
        } else {
            scalar::key(&mut self.out, key, context, self.looks);
        }
    }

    fn name(&self, anchor: usize) -> String {
        if self.odd_names {
            format!("a:{anchor}")
        } else {
            format!("a-{anchor}_")
        }
    }

    /// The anchor with the blank behind it.
    fn properties(&mut self, node: &Node) {
        if let Some(anchor) = node.anchor {
            let name = self.name(anchor);
            self.out.push('&');
            self.out.push_str(&name);
            self.out.push(' ');
        }
    }

    /// A value behind `:` or `-`, to the end of its last line.
    fn value(&mut self, node: &Node, indent: usize, after: After) {
        let is_flow = |looks: &mut Tape<'_>| looks.rarely(6);
        match &node.kind {
            Kind::Mapping(entries) if !entries.is_empty() && !is_flow(self.looks) => {
                if after == After::Dash && node.anchor.is_none() && !self.looks.rarely(6) {
                    self.out.push(' ');
                    self.entries(entries, indent + 2, true);
                } else {
                    self.header(node);
                    let step = 1 + (self.looks.below(4) + 1) % 4;
                    self.entries(entries, indent + step, false);
                }
            }
            Kind::Sequence(items) if !items.is_empty() && !is_flow(self.looks) => {
                self.header(node);
                let step = if after == After::Key {
                    self.looks.below(3)
                } else {
                    2
                };
                for item in items {
                    self.between_lines(indent + step);
                    self.spaces(indent + step);
                    self.out.push('-');
                    self.value(item, indent + step, After::Dash);
                }
            }
            Kind::Null if node.anchor.is_none() && self.looks.below(2) == 0 => self.nothing(),
            Kind::Text(text) => {
                self.gap();
                self.properties(node);
                let context = Context::Block { indent };
                let is_block = scalar::value(&mut self.out, text, context, self.looks);
                if !is_block {
                    self.trailing();
                }
            }
            _ => {
                self.gap();
                self.flow(node, indent + 2);
                self.trailing();
            }
        }
    }

    /// The rest of the line above a block collection.
    fn header(&mut self, node: &Node) {
        if node.anchor.is_some() {
            self.out.push(' ');
            self.properties(node);
        }
        self.nothing();
    }

    /// The end of a line that ends in an indicator: libyaml takes no tab there.
    fn nothing(&mut self) {
        self.out
            .push_str(self.looks.pick(&["\n", "\n", "\n", " # c é\n", "  \n"]));
    }

    fn gap(&mut self) {
        self.out
            .push_str(self.looks.pick(&[" ", " ", " ", "  ", " "]));
    }

    /// The end of a line.
    fn trailing(&mut self) {
        let end = [
            "\n",
            "\n",
            "\n",
            " # c\n",
            "  \n",
            "\t# é 😀 tracebloc/x\n",
            " \t\n",
        ];
        self.out.push_str(self.looks.pick(&end));
    }

    /// A node in flow style, in the middle of a line. Lines that it breaks go on at `indent`.
    fn flow(&mut self, node: &Node, indent: usize) {
        self.properties(node);
        match &node.kind {
            Kind::Null => self.out.push_str(self.looks.pick(&["null", "~"])),
            Kind::Text(text) if self.json => scalar::json(&mut self.out, text),
            Kind::Text(text) => {
                scalar::value(&mut self.out, text, Context::Flow { indent }, self.looks);
            }
            Kind::Alias(anchor) => {
                let name = self.name(*anchor);
                self.out.push('*');
                self.out.push_str(&name);
                if self.odd_names {
                    self.out.push(' ');
                }
            }
            Kind::Sequence(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separator(index, indent);
                    self.flow(item, indent + 2);
                }
                self.close(items.len(), indent, ']');
            }
            Kind::Mapping(entries) => {
                self.out.push('{');
                for (index, (key, item)) in entries.iter().enumerate() {
                    self.separator(index, indent);
                    self.key(key, Context::Flow { indent });
                    self.out.push_str(": ");
                    self.flow(item, indent + 2);
                }
                self.close(entries.len(), indent, '}');
            }
        }
    }

    fn separator(&mut self, index: usize, indent: usize) {
        if index > 0 {
            self.out.push(',');
        }
        match self.looks.below(6) {
            4 => {
                self.out.push('\n');
                self.spaces(indent);
            }
            5 if !self.json => {
                self.out.push_str(" # c\n");
                self.spaces(indent);
            }
            3 => {}
            _ if index > 0 => self.out.push(' '),
            _ => {}
        }
    }

    fn close(&mut self, length: usize, indent: usize, bracket: char) {
        if length > 0 && !self.json && self.looks.rarely(8) {
            self.out.push(',');
        }
        if self.looks.rarely(6) {
            self.out.push('\n');
            self.spaces(indent);
        }
        self.out.push(bracket);
    }
}
