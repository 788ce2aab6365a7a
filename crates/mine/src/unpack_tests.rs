#![allow(clippy::unwrap_used)]
use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

type Writer = ZipWriter<Cursor<Vec<u8>>>;

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().unix_permissions(0o644)
}

fn add(writer: &mut Writer, name: &str, bytes: &[u8]) {
    writer.start_file(name, options()).unwrap();
    writer.write_all(bytes).unwrap();
}

/// Unpacks what `fill` wrote; the names of everything in the target's parent tell of escapes.
fn unpacked(
    config: &MineConfig,
    fill: impl FnOnce(&mut Writer),
) -> (Result<Taken, String>, Vec<String>) {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    add(&mut writer, "pkg/__init__.py", b"x = 1\n");
    fill(&mut writer);
    let bytes = writer.finish().unwrap().into_inner();
    unpacked_bytes(config, &bytes)
}

fn unpacked_bytes(config: &MineConfig, bytes: &[u8]) -> (Result<Taken, String>, Vec<String>) {
    let work = tempfile::tempdir().unwrap();
    let wheel = work.path().join("a-1-py3-none-any.whl");
    std::fs::write(&wheel, bytes).unwrap();
    let target = work.path().join("deep/target");
    std::fs::create_dir_all(&target).unwrap();
    let result = unpack(&wheel, &target, config).map_err(|e| e.to_string());
    let mut names = Vec::new();
    let mut folders = vec![work.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                names.push(
                    path.strip_prefix(work.path())
                        .unwrap()
                        .display()
                        .to_string(),
                );
            }
        }
    }
    names.sort();
    (result, names)
}

#[test]
fn sources_metadata_and_licences_are_kept_and_nothing_else() {
    let (result, names) = unpacked(&MineConfig::default(), |w| {
        add(w, "pkg/data.json", b"{}");
        add(w, "a-1.dist-info/METADATA", b"Version: 1\nLicense: MIT\n");
        add(w, "a-1.dist-info/RECORD", b"");
        add(w, "a-1.dist-info/licenses/LICENSE.txt", b"MIT");
        add(w, "pkg/METADATA", b"no metadata");
        w.add_directory("pkg/sub/", options()).unwrap();
    });
    let taken = result.unwrap();
    assert_eq!((taken.python, taken.files), (1, 3));
    assert_eq!(taken.licence.as_deref(), Some("MIT"));
    assert_eq!(
        names,
        [
            "a-1-py3-none-any.whl",
            "deep/target/a-1.dist-info/METADATA",
            "deep/target/a-1.dist-info/licenses/LICENSE.txt",
            "deep/target/pkg/__init__.py",
        ]
    );
}

#[test]
fn paths_out_of_the_target_refuse_the_wheel() {
    for name in [
        "/escaped.py",
        "../escaped.py",
        "pkg/../../escaped.py",
        "pkg\\..\\escaped.py",
        "../escaped.txt",
        "//escaped.py",
        "pkg/./a.py",
    ] {
        let (result, names) = unpacked(&MineConfig::default(), |w| add(w, name, b"x = 2\n"));
        let reason = result.unwrap_err();
        assert!(reason.starts_with("unsafe archive"), "{name}: {reason}");
        assert!(!names.iter().any(|n| n.contains("escaped")), "{names:?}");
    }
}

#[test]
fn a_link_refuses_the_wheel() {
    for name in ["pkg/link.py", "pkg/link"] {
        let (result, names) = unpacked(&MineConfig::default(), |w| {
            w.add_symlink(name, "/etc/passwd", options()).unwrap();
        });
        let reason = result.unwrap_err();
        assert!(reason.contains("a link or special file"), "{reason}");
        assert!(!names.iter().any(|n| n.contains("link")), "{names:?}");
    }
}

#[test]
fn a_bomb_refuses_the_wheel_by_size_ratio_or_sum() {
    let bomb = vec![b' '; 1 << 20];
    let default = MineConfig::default();
    let (result, _) = unpacked(&default, |w| add(w, "pkg/bomb.py", &bomb));
    assert!(result.unwrap_err().contains("packed more than 200 times"));

    let small = MineConfig {
        max_file_bytes: 1000,
        ..MineConfig::default()
    };
    let (result, _) = unpacked(&small, |w| add(w, "pkg/bomb.py", &bomb));
    assert!(result.unwrap_err().contains("larger than 1000 bytes"));

    let total = MineConfig {
        max_total_bytes: 5000,
        ..MineConfig::default()
    };
    let (result, _) = unpacked(&total, |w| {
        for n in 0..10 {
            add(w, &format!("pkg/m{n}.py"), &bomb[..1000]);
        }
    });
    assert!(result.unwrap_err().contains("more than 5000 bytes"));
}

#[test]
fn a_declared_size_that_lies_is_found_out() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    add(&mut writer, "pkg/bomb.py", &[b' '; 50_000]);
    let mut bytes = writer.finish().unwrap().into_inner();
    // Every place that says 50,000 (local header, central directory) now says 10.
    let old = 50_000u32.to_le_bytes();
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == old {
            bytes[at..at + 4].copy_from_slice(&10u32.to_le_bytes());
        }
    }
    let config = MineConfig {
        max_file_bytes: 1000,
        ..MineConfig::default()
    };
    let (result, names) = unpacked_bytes(&config, &bytes);
    assert!(result.unwrap_err().starts_with("unsafe archive"));
    assert_eq!(names, ["a-1-py3-none-any.whl"]);
}

#[test]
fn a_file_that_is_no_archive_is_refused() {
    let (result, _) = unpacked_bytes(&MineConfig::default(), b"not a zip");
    assert!(result.unwrap_err().contains("not a zip archive"));
}
