//! Saved objects as text: YAML or JSON, as kubectl prints them.

use serde::Deserialize as _;

use super::{Malformed, SavedObjects};

/// A text that is no saved objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedTextError {
    /// It is neither YAML nor JSON, or holds something that is no mapping.
    #[error("{0}")]
    NotYaml(String),
    /// It holds something that is no Kubernetes object.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// It holds nothing to take answers from.
    #[error("it holds no object that answers are read from")]
    Empty,
}

impl SavedObjects {
    /// Reads what kubectl printed: documents, each an object or a list of them.
    ///
    /// # Errors
    /// Where `text` is something else, or holds no object that could answer a question: read on, either
    /// would look like "nothing recorded".
    pub fn parse(text: &[u8]) -> Result<Self, SavedTextError> {
        let text = str::from_utf8(text).map_err(not_yaml)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut saved = Self::default();
        let mut objects = 0;
        for document in serde_yaml::Deserializer::from_str(text) {
            // Through YAML's own value, which refuses a key written twice: two outputs of kubectl in one
            // file without `---` between them are two Lists in one mapping, of which the last would win.
            let value = serde_yaml::Value::deserialize(document).map_err(not_yaml)?;
            let value = serde_json::to_value(value).map_err(not_yaml)?;
            if value.is_object() {
                objects += 1;
                saved.add(value)?;
            } else if !value.is_null() {
                return Err(not_yaml("a document is no Kubernetes object"));
            }
        }
        if objects == 0 || !saved.is_readable() {
            return Err(SavedTextError::Empty);
        }
        Ok(saved)
    }
}

fn not_yaml(error: impl ToString) -> SavedTextError {
    SavedTextError::NotYaml(error.to_string())
}
