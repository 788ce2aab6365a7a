//! Reads results back from a folder that untrusted code filled.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::{SandboxError, Spec, plan, sys};

/// The asked-for files that are regular, direct children of `scratch` and not too big.
pub(crate) fn collect(
    spec: &Spec,
    scratch: &File,
) -> Result<BTreeMap<String, Vec<u8>>, SandboxError> {
    let mut collected = BTreeMap::new();
    for name in &spec.collect {
        let name_c = plan::c_string(name)?;
        let Ok(fd) = sys::open_beneath(scratch.as_raw_fd(), &name_c) else {
            continue;
        };
        // SAFETY: the descriptor was opened just now and has no other owner.
        let file = unsafe { File::from_raw_fd(fd) };
        let limit = spec.limits.file_size;
        let fits = |meta: std::fs::Metadata| meta.is_file() && meta.len() <= limit;
        if !file.metadata().is_ok_and(fits) {
            continue;
        }
        let mut bytes = Vec::new();
        if file.take(limit).read_to_end(&mut bytes).is_ok() {
            collected.insert(name.clone(), bytes);
        }
    }
    Ok(collected)
}
