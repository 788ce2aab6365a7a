//! The code that is tested, out of what a model wrote.

/// RepoExec's rule: the first Python block that defines `entry_point`, else the first block, else
/// the whole text; moved to the left margin, without a main guard. Imports stay. An answer that
/// does not define the function is taken for its body and follows the prompt.
pub fn extract(entry_point: &str, prompt: &str, completion: &str) -> String {
    let completion = completion.replace("\r\n", "\n");
    let blocks = blocks(&completion);
    let chosen = blocks
        .iter()
        .find(|block| defines(block, entry_point))
        .or(blocks.first())
        .map_or(completion.as_str(), String::as_str);
    let code = without_main_guard(&dedent(chosen));
    if defines(&code, entry_point) {
        code
    } else {
        let body: Vec<String> = code
            .trim_matches('\n')
            .lines()
            .map(|line| {
                if line.trim().is_empty() {
                    String::new()
                } else {
                    format!("    {line}")
                }
            })
            .collect();
        format!("{prompt}\n{}", body.join("\n"))
    }
}

/// The fenced blocks that are marked as Python or not marked; one that never ends counts.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, Vec<&str>)> = None;
    for line in text.lines() {
        let mark = line.trim_start().strip_prefix("```");
        match (&mut open, mark) {
            (None, Some(language)) => {
                let language = language.trim().to_ascii_lowercase();
                let python = matches!(language.as_str(), "" | "python" | "py" | "python3");
                open = Some((python, Vec::new()));
            }
            (Some((_, lines)), None) => lines.push(line),
            (Some(_), Some(_)) => {
                if let Some((true, lines)) = open.take() {
                    found.push(lines.join("\n"));
                }
                open = None;
            }
            (None, None) => {}
        }
    }
    if let Some((true, lines)) = open {
        found.push(lines.join("\n"));
    }
    found
}

/// Whether a line begins the definition of a function or class of this name.
fn defines(code: &str, name: &str) -> bool {
    code.lines().any(|line| {
        let line = line.trim_start();
        ["def ", "async def ", "class "].iter().any(|keyword| {
            line.strip_prefix(keyword)
                .and_then(|rest| rest.trim_start().strip_prefix(name))
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    })
}

/// Removes the margin that all lines with text share.
fn dedent(code: &str) -> String {
    let margin = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let width = code
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(margin)
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = code
        .lines()
        .map(|line| line.get(width..).unwrap_or(""))
        .collect();
    lines.join("\n")
}

fn without_main_guard(code: &str) -> String {
    let kept: Vec<&str> = code
        .lines()
        .take_while(|line| !(line.starts_with("if __name__") && line.contains("__main__")))
        .collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROMPT: &str = "def f(x):\n    \"\"\"Doc.\"\"\"";

    #[test]
    fn the_block_that_defines_the_function_is_taken() {
        let text = "Sure:\n```python\nimport os\n```\nand\n```python\ndef f(x):\n    return x\n\nif __name__ == \"__main__\":\n    f(1)\n```\n";
        assert_eq!(extract("f", PROMPT, text), "def f(x):\n    return x\n");
    }

    #[test]
    fn a_bare_body_follows_the_prompt() {
        assert_eq!(
            extract("f", PROMPT, "```\nreturn x\n```"),
            format!("{PROMPT}\n    return x")
        );
        assert_eq!(
            extract("f", PROMPT, "    y = x\n    return y"),
            format!("{PROMPT}\n    y = x\n    return y")
        );
    }

    #[test]
    fn bare_code_unfinished_blocks_async_and_windows_lines_are_read() {
        let code = "def f(x):\n    return x";
        assert_eq!(extract("f", PROMPT, code), code);
        assert_eq!(extract("f", PROMPT, &format!("```python\n{code}")), code);
        assert_eq!(
            extract("f", PROMPT, &format!("  {}", code.replace('\n', "\r\n  "))),
            code
        );
        assert!(extract("f", PROMPT, "async def f(x): pass").starts_with("async"));
        // `def fold` does not define `f`.
        assert!(extract("f", PROMPT, "def fold(): pass").starts_with(PROMPT));
    }

    proptest! {
        #[test]
        fn any_text_gives_something(text in "(```|python|def f|\n| |\t|é|x|:){0,40}") {
            extract("f", PROMPT, &text);
        }
    }
}
