//! What a package's metadata says about its licence.

/// The parts of a `METADATA` or `PKG-INFO` file that the manifest keeps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub version: Option<String>,
    pub licence: Option<String>,
}

/// Reads the core metadata headers. The licence is the first of: `License-Expression`, a short
/// `License`, the `License ::` classifiers.
pub(crate) fn parse(text: &str) -> Metadata {
    let mut version = None;
    let mut expression = None;
    let mut free = None;
    let mut classifiers = Vec::new();
    // The headers end at the first empty line; the description follows.
    for line in text.lines().take_while(|l| !l.is_empty()) {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key {
            "Version" => version = Some(value.to_owned()),
            "License-Expression" => expression = Some(value.to_owned()),
            // Some packages put the whole text of the licence here: that's no name.
            "License" if !value.is_empty() && value != "UNKNOWN" && value.len() <= 100 => {
                free = Some(value.to_owned());
            }
            "Classifier" if value.starts_with("License ::") => {
                let name = value.rsplit("::").next().unwrap_or(value).trim();
                classifiers.push(name.to_owned());
            }
            _ => {}
        }
    }
    let classified = (!classifiers.is_empty()).then(|| classifiers.join(" AND "));
    Metadata {
        version,
        licence: expression.or(free).or(classified),
    }
}

/// Whether a file holds a licence's text, by its name.
pub(crate) fn is_licence_file(file_name: &str) -> bool {
    let upper = file_name.to_ascii_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "NOTICE"]
        .iter()
        .any(|start| upper.starts_with(start))
        && !upper.ends_with(".PY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expression_goes_before_the_free_text() {
        let found = parse(
            "Name: a\nVersion: 1.2\nLicense: whatever\nLicense-Expression: MIT\n\nLicense: no\n",
        );
        assert_eq!(found.licence.as_deref(), Some("MIT"));
        assert_eq!(found.version.as_deref(), Some("1.2"));
    }

    #[test]
    fn classifiers_stand_in_for_an_unknown_licence() {
        let text = "License: UNKNOWN\nClassifier: Programming Language :: Python\n\
                    Classifier: License :: OSI Approved :: BSD License\n";
        assert_eq!(parse(text).licence.as_deref(), Some("BSD License"));
    }

    #[test]
    fn licence_files_are_known_by_name() {
        for name in ["LICENSE", "LICENCE.txt", "copying.lesser", "NOTICE"] {
            assert!(is_licence_file(name), "{name}");
        }
        assert!(!is_licence_file("license.py"));
        assert!(!is_licence_file("README.md"));
    }
}
