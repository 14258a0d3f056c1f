//! Checks every dependency's licence against the list in `deny.toml`, as `cargo deny check licenses` would.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell::say;
use crate::workspace;

#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
}

/// Checks all packages that cargo knows for this workspace.
///
/// # Errors
/// A package has no licence expression, or none that is allowed.
pub fn check() -> Result<()> {
    let path = workspace::root().join("deny.toml");
    let text = std::fs::read_to_string(&path).context("reading deny.toml")?;
    let allow = toml::from_str::<Deny>(&text).context("reading deny.toml")?.licenses.allow;
    let packages = &workspace::metadata()?.packages;
    let mut bad = Vec::new();
    for package in packages {
        match &package.license {
            Some(expression) if allowed(expression, &allow) => {}
            Some(expression) => bad.push(format!("{} {}: {expression}", package.name, package.version)),
            None => bad.push(format!("{} {}: names no licence", package.name, package.version)),
        }
    }
    if !bad.is_empty() {
        bail!("licences that deny.toml does not allow:\n  {}", bad.join("\n  "));
    }
    say(format_args!("{} packages, all under allowed licences", packages.len()));
    Ok(())
}

/// Whether an SPDX expression can be satisfied with the allowed licences alone. `/` is the old notation of OR.
fn allowed(expression: &str, allow: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, at: 0, allow };
    let value = parser.or();
    // What is no expression is not allowed.
    value && parser.at == words.len()
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    allow: &'a BTreeSet<String>,
}

impl Parser<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn or(&mut self) -> bool {
        let mut value = self.and();
        while self.next_is("OR") {
            // Both sides are parsed whatever the first is.
            let right = self.and();
            value = value || right;
        }
        value
    }

    fn and(&mut self) -> bool {
        let mut value = self.licence();
        while self.next_is("AND") {
            let right = self.licence();
            value = value && right;
        }
        value
    }

    fn licence(&mut self) -> bool {
        if self.next_is("(") {
            let value = self.or();
            return self.next_is(")") && value;
        }
        let Some(name) = self.words.get(self.at).copied() else { return false };
        self.at += 1;
        if self.next_is("WITH") {
            let exception = self.words.get(self.at).copied().unwrap_or("");
            self.at += 1;
            return self.allow.contains(&format!("{name} WITH {exception}")) || self.allow.contains(name);
        }
        self.allow.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let allow: BTreeSet<String> = ["MIT", "Apache-2.0", "Unicode-3.0"].map(String::from).into();
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(allowed(good, &allow), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT MIT", "AND", "GPL-2.0 WITH MIT"] {
            assert!(!allowed(bad, &allow), "{bad}");
        }
    }
}
