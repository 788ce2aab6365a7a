//! Both parsers give the same outline of every file that both read.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;

use super::*;
use crate::load;

/// A file, and where it comes from.
struct Source {
    name: String,
    text: String,
}

/// How many files were compared, and which differ.
#[derive(Default)]
struct Tally {
    read: usize,
    compared: usize,
    different: Vec<String>,
}

impl Tally {
    fn of(sources: &[Source]) -> Self {
        let verdicts: Vec<_> = load::with_room(0, || {
            let all = sources.par_iter();
            all.map(|s| (s, difference(&s.text))).collect()
        })
        .expect("threads");
        let mut tally = Self {
            read: verdicts.len(),
            ..Self::default()
        };
        for (source, verdict) in verdicts {
            let Some(difference) = verdict else { continue };
            tally.compared += 1;
            if let Some(difference) = difference {
                tally
                    .different
                    .push(format!("{}: {difference}", source.name));
            }
        }
        tally
    }

    fn assert_equal(&self, what: &str) {
        println!("{what}: {} of {} files compared", self.compared, self.read);
        assert!(
            self.different.is_empty(),
            "{what}: {} differ\n{}",
            self.different.len(),
            self.different.join("\n")
        );
        assert!(self.compared > 0, "{what}: both parsers read no file");
    }
}

/// `None` where only one of the parsers reads the whole text; else where the outlines differ.
fn difference(text: &str) -> Option<Option<String>> {
    let scratch = &mut Scratch::default();
    let ruff = outline(Parser::Ruff, text, scratch).ok()?;
    if ruff.facts.broken.is_some() {
        return None;
    }
    let other = outline(Parser::Rustpython, text, scratch).ok()?;
    if ruff == other {
        return Some(None);
    }
    let (ruff, other) = (format!("{ruff:#?}"), format!("{other:#?}"));
    let mut lines = ruff.lines().zip(other.lines()).enumerate();
    let first = lines.find(|(_, (a, b))| a != b);
    Some(Some(match first {
        Some((line, (a, b))) => format!("line {line} of the outline: {} / {}", a.trim(), b.trim()),
        None => "one outline is longer".to_owned(),
    }))
}

fn decoded(name: String, bytes: Vec<u8>) -> Option<Source> {
    let text = load::decode(bytes).ok()?;
    Some(Source { name, text })
}

/// The files of the standard library of the Python that `python3` names, those of packages left
/// out.
fn standard_library() -> Option<Vec<PathBuf>> {
    let print = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let output = Command::new("python3").args(["-c", print]).output().ok()?;
    let root = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let tree = load::walk(&root).ok()?;
    let own = |path: &str| !path.contains("site-packages/");
    let files = tree.files.iter().filter(|path| own(path.as_str()));
    Some(files.map(|path| path.under(&root)).collect())
}

/// The wheels in `HYDRA_WHEELS`, or those that Hydra has downloaded before.
fn wheels() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let folder = set("HYDRA_WHEELS").or_else(|| Some(cache?.join("hydra").join("wheels")));
    let entries = folder.into_iter().flat_map(std::fs::read_dir).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut wheels: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "whl"))
        .collect();
    wheels.sort();
    wheels
}

/// Every `step`-th Python file of a wheel.
fn in_wheel(path: &Path, step: usize) -> Vec<Source> {
    let open = File::open(path).map_err(zip::result::ZipError::from);
    let mut archive = match open.and_then(zip::ZipArchive::new) {
        Ok(archive) => archive,
        Err(e) => {
            println!("skipped: {}: {e}", path.display());
            return Vec::new();
        }
    };
    let names = archive.file_names().filter(|name| name.ends_with(".py"));
    let names: Vec<String> = names.step_by(step).map(str::to_owned).collect();
    let sources = names.into_iter().filter_map(|name| {
        let mut bytes = Vec::new();
        let mut file = archive.by_name(&name).ok()?;
        file.read_to_end(&mut bytes).ok()?;
        decoded(format!("{}!{name}", path.display()), bytes)
    });
    sources.collect()
}

fn compare_standard_library(step: usize) {
    /// Short files are cheap, and as strange as long ones.
    const SHORT: u64 = 8 << 10;
    let Some(files) = standard_library() else {
        println!("skipped: no python3 that names its standard library");
        return;
    };
    let chosen = files.iter().enumerate().filter(|(number, path)| {
        let short = std::fs::metadata(path).is_ok_and(|meta| meta.len() < SHORT);
        number % step == 0 || short && number % step.div_ceil(4) == 0
    });
    let sources: Vec<Source> = chosen
        .filter_map(|(_, path)| decoded(path.display().to_string(), std::fs::read(path).ok()?))
        .collect();
    Tally::of(&sources).assert_equal("the standard library");
}

fn compare_wheels(step: usize) {
    let wheels = wheels();
    let sources: Vec<Source> = wheels.iter().flat_map(|w| in_wheel(w, step)).collect();
    if sources.is_empty() {
        println!("skipped: no wheels; HYDRA_WHEELS may name a folder of them");
        return;
    }
    Tally::of(&sources).assert_equal("the wheels");
}

#[test]
fn outlines_of_the_standard_library_do_not_depend_on_the_parser() {
    compare_standard_library(12);
}

#[test]
fn outlines_of_wheels_do_not_depend_on_the_parser() {
    compare_wheels(12);
}

#[test]
#[ignore = "a minute in a debug build; `cargo test --release -p hydra-pyindex -- --ignored`"]
fn outlines_of_all_files_there_are_do_not_depend_on_the_parser() {
    compare_standard_library(1);
    compare_wheels(1);
}

#[test]
fn what_stands_in_an_f_string_has_the_place_of_the_outermost() {
    for text in [
        "x = f'{a.b(c)} {d:{e}}'\n",
        "x = f'{f\"{a}\" + b}' 'c' f'{d}'\n",
        "# above\ny = f'{(x := a)}'\nx\n",
        "def f():\n    global x\n    return f'{(x := a)} {[y for y in z if (w := y)]}'\n",
        "x: f'{a[\"b\"]}' = 1\n",
        "class C:\n    f'{(x := 1)}'\n    def m(self): return f'{self.a} {(lambda b: self.c)(1)}'\n",
    ] {
        assert_eq!(difference(text), Some(None), "{text}");
    }
    let text = "x = 1, f'{a} {f\"{b}\"}'\n";
    let outline = outline(Parser::Ruff, text, &mut Scratch::default()).expect("it parses");
    assert!(outline.body.uses.iter().all(|used| used.at == 7));
}
