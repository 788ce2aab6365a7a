//! Wheels from a package index, through pip as a child process.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hydra_core::CoreError;

use crate::error::ItemError;
use crate::{MineConfig, Pin, normalise};

/// How often a running pip is looked at.
const POLL: Duration = Duration::from_millis(50);

/// The wheel of `pin` in the cache, fetched if it is not there yet.
pub(crate) fn wheel(pin: &Pin, config: &MineConfig) -> Result<PathBuf, ItemError> {
    std::fs::create_dir_all(&config.cache).map_err(CoreError::io(&config.cache))?;
    if let Some(found) = cached(pin, &config.cache)? {
        return Ok(found);
    }
    let attempts = config.attempts.max(1);
    let mut last = String::new();
    for attempt in 1..=attempts {
        match fetch(pin, config) {
            Ok(wheel) => return Ok(wheel),
            Err(reason) => last = reason,
        }
        // The index has answered, and asking again won't change it.
        if last.contains("No matching distribution") {
            return Err(ItemError::Failed(last));
        }
        if attempt < attempts {
            std::thread::sleep(Duration::from_millis(200 << attempt.min(5)));
        }
    }
    Err(ItemError::Failed(format!("{last} ({attempts} attempts)")))
}

/// A wheel's file name starts `name-version-` (PEP 427), the name's `-` written as `_`.
fn cached(pin: &Pin, cache: &Path) -> Result<Option<PathBuf>, CoreError> {
    let mut wheels = wheels_in(cache)?;
    wheels.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut parts = name.split('-');
        let (Some(project), Some(version)) = (parts.next(), parts.next()) else {
            return false;
        };
        normalise(project) == normalise(&pin.name)
            && version.replace('_', "+").eq_ignore_ascii_case(&pin.version)
    });
    Ok(wheels.into_iter().next())
}

fn wheels_in(folder: &Path) -> Result<Vec<PathBuf>, CoreError> {
    let mut wheels = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(CoreError::io(folder))? {
        let path = entry.map_err(CoreError::io(folder))?.path();
        if path.extension().is_some_and(|e| e == "whl") {
            wheels.push(path);
        }
    }
    wheels.sort();
    Ok(wheels)
}

/// One try, into a folder of its own, so that a killed pip leaves no half wheel in the cache.
fn fetch(pin: &Pin, config: &MineConfig) -> Result<PathBuf, String> {
    let text = |e: CoreError| e.to_string();
    let folder = tempfile::Builder::new()
        .prefix(".hydra-pip-")
        .tempdir_in(&config.cache)
        .map_err(CoreError::io(&config.cache))
        .map_err(text)?;
    pip(pin, config, folder.path())?;
    let wheel = wheels_in(folder.path())
        .map_err(text)?
        .into_iter()
        .next()
        .ok_or("pip ended well but left no wheel")?;
    let place = config.cache.join(wheel.file_name().unwrap_or_default());
    std::fs::rename(&wheel, &place)
        .map_err(CoreError::io(&place))
        .map_err(text)?;
    Ok(place)
}

fn pip(pin: &Pin, config: &MineConfig, folder: &Path) -> Result<(), String> {
    let mut complaints = tempfile::tempfile().map_err(|e| e.to_string())?;
    let stderr = complaints.try_clone().map_err(|e| e.to_string())?;
    let mut child = Command::new(&config.python)
        .args(["-m", "pip", "download", "--no-deps"])
        // Only wheels: a source distribution's set-up script would run.
        .args(["--only-binary", ":all:"])
        .args(["--disable-pip-version-check", "--no-input", "--quiet", "-d"])
        .arg(folder)
        .arg(format!("{}=={}", pin.name, pin.version))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| format!("{}: {e}", config.python.display()))?;
    let deadline = Instant::now() + Duration::from_secs(config.download_timeout_s);
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if Instant::now() < deadline => std::thread::sleep(POLL),
            None => {
                // It may have ended between the look and the signal.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "pip took more than {} s",
                    config.download_timeout_s
                ));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut said = Vec::new();
    complaints.rewind().map_err(|e| e.to_string())?;
    complaints
        .read_to_end(&mut said)
        .map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|l| l.starts_with("ERROR"));
    let last = last.or(said.lines().next_back()).unwrap_or("no message");
    Err(format!("pip: {status}: {last}"))
}
