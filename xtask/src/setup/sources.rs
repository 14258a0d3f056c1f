//! The machine's apt sources, read so that another suite can be asked of the same mirrors: the repository names
//! no host.
//!
//! Both notations are understood: deb822 stanzas (`*.sources`) and one-line entries (`*.list`).

use std::path::Path;

/// One source of binary packages: where they come from and who signs for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Mirrors, separated by spaces.
    pub uris: String,
    /// Suites.
    pub suites: Vec<String>,
    /// Components.
    pub components: Vec<String>,
    /// Key file or inline key, as it stood (an inline key has several lines).
    pub signed_by: Option<String>,
    /// Whether apt is told to trust it unsigned.
    pub trusted: bool,
}

impl Source {
    /// The same mirrors with another suite, as a deb822 stanza.
    pub fn stanza(&self, suite: &str) -> String {
        let mut text = format!("Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\n", self.uris);
        if let Some(key) = &self.signed_by {
            text.push_str(&format!("Signed-By:{}{key}\n", if key.starts_with('\n') { "" } else { " " }));
        }
        if self.trusted {
            text.push_str("Trusted: yes\n");
        }
        text
    }
}

/// Every enabled source of `etc` (`/etc/apt`).
pub fn read(etc: &Path) -> Vec<Source> {
    let mut files = vec![etc.join("sources.list")];
    if let Ok(folder) = std::fs::read_dir(etc.join("sources.list.d")) {
        let mut more: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
        more.sort();
        files.extend(more);
    }
    let mut sources = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        match file.extension().and_then(|e| e.to_str()) {
            Some("sources") => sources.extend(deb822(&text)),
            Some("list") => sources.extend(text.lines().filter_map(one_line)),
            _ => {}
        }
    }
    sources
}

/// The source of the distribution itself: one that offers `main` of the suite `codename` (or of its alias).
pub fn distribution<'a>(sources: &'a [Source], codename: &str) -> Option<&'a Source> {
    let offers = |source: &&Source, suite: &str| {
        source.suites.iter().any(|s| s == suite) && source.components.iter().any(|c| c == "main")
    };
    [codename, "stable", "oldstable"].iter().find_map(|suite| sources.iter().find(|source| offers(source, suite)))
}

/// Stanzas `Field: value` separated by empty lines; a line that begins with a space continues the one before.
fn deb822(text: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            sources.extend(stanza(&std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    sources
}

fn stanza(fields: &[(String, String)]) -> Option<Source> {
    let field = |name: &str| fields.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let words = |name: &str| field(name).unwrap_or("").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if field("enabled").is_some_and(is_no) || !words("types").iter().any(|t| t == "deb") {
        return None;
    }
    Some(Source {
        uris: words("uris").join(" "),
        suites: words("suites"),
        components: words("components"),
        signed_by: field("signed-by").map(str::to_owned),
        trusted: field("trusted").is_some_and(|value| !is_no(value)),
    })
}

/// `deb [option=value ...] uri suite component...`
fn one_line(line: &str) -> Option<Source> {
    let rest = line.split('#').next()?.trim().strip_prefix("deb")?;
    let rest = rest.starts_with([' ', '\t', '[']).then(|| rest.trim())?;
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let option = |name: &str| options.split_whitespace().find_map(|o| o.strip_prefix(name)?.strip_prefix('='));
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Source {
        uris: words.next()?,
        suites: vec![words.next()?],
        components: words.collect(),
        signed_by: option("signed-by").map(|key| key.replace(',', " ")),
        trusted: option("trusted").is_some_and(|value| !is_no(value)),
    })
}

fn is_no(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "no" | "false" | "0" | "off" | "disable" | "without")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deb822_stanzas() {
        let sources = deb822(
            "Types: deb deb-src\n# a comment\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n\
             Components: main contrib\nSigned-By: /usr/share/keyrings/a.gpg\n\n\nTypes: deb\nEnabled: no\n\
             URIs: http://off.example\nSuites: bookworm\nComponents: main\n\nTypes: deb-src\nURIs: x\nSuites: y\n",
        );
        assert_eq!(sources.len(), 1, "{sources:?}");
        assert_eq!(
            sources[0].stanza("bookworm-backports"),
            "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm-backports\nComponents: main\n\
             Signed-By: /usr/share/keyrings/a.gpg\n"
        );
    }

    #[test]
    fn an_inline_key_is_kept_whole() {
        let key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ==\n -----END PGP PUBLIC KEY BLOCK-----";
        let text = format!("Types: deb\nURIs: u\nSuites: s\nComponents: main\nSigned-By:{key}\n");
        let sources = deb822(&text);
        assert_eq!(sources[0].stanza("s"), text);
    }

    #[test]
    fn classic_lines() {
        let source = one_line("deb [arch=amd64 signed-by=/a.gpg] http://m.example/debian bookworm main # why").unwrap();
        assert_eq!(source.uris, "http://m.example/debian");
        assert_eq!((source.suites, source.components), (vec!["bookworm".into()], vec!["main".into()]));
        assert_eq!(source.signed_by.as_deref(), Some("/a.gpg"));
        let plain = one_line("deb http://m.example/debian stable main contrib").unwrap();
        assert_eq!(
            plain.stanza("trixie"),
            "Types: deb\nURIs: http://m.example/debian\nSuites: trixie\nComponents: main\n"
        );
        for line in ["", "# deb http://x y main", "deb-src http://x y main", "debian http://x y main", "deb http://x"] {
            assert_eq!(one_line(line), None, "{line}");
        }
    }

    #[test]
    fn the_distribution_is_told_from_other_sources_and_from_its_updates() {
        let list: Vec<_> = [
            "deb http://other.example/cloud sdk-bookworm main",
            "deb http://security.example/debian bookworm-security main",
            "deb http://m.example/debian bookworm main",
        ]
        .iter()
        .filter_map(|line| one_line(line))
        .collect();
        assert_eq!(distribution(&list, "bookworm").unwrap().uris, "http://m.example/debian");
        assert_eq!(distribution(&list, "trixie"), None);
        assert_eq!(
            distribution(&[one_line("deb http://m.example stable main").unwrap()], "bookworm").unwrap().uris,
            "http://m.example"
        );
    }
}
