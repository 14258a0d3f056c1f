//! Why a program was not translated.

use std::borrow::Cow;

/// A program that cannot be translated. Its text names the program's key, the place and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// An instruction that has no translation here.
    #[error("program {key:016x}: {instruction} at {offset:#06x}: {reason}")]
    Unsupported {
        /// Program key.
        key: u64,
        /// Byte offset in the code.
        offset: u32,
        /// Mnemonic, or `word 0x...` where none matches.
        instruction: Cow<'static, str>,
        /// Why.
        reason: Cow<'static, str>,
    },
    /// Control flow that leaves the code or breaks the rules of the divergence stack.
    #[error("program {key:016x}: control flow at {offset:#06x}: {reason}")]
    BadControlFlow {
        /// Program key.
        key: u64,
        /// Byte offset in the code.
        offset: u32,
        /// Why.
        reason: Cow<'static, str>,
    },
    /// A limit of the translator is exceeded.
    #[error("program {key:016x}: {what} exceeds the translator's limit")]
    TooLarge {
        /// Program key.
        key: u64,
        /// What is too large.
        what: &'static str,
    },
}
