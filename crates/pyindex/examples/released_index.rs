//! Writes a repository's index as released: `released_index REPOSITORY FOLDER`. For
//! `scripts/parity/released_index.py`, which compares it with the original's.

use std::path::Path;

use hydra_core::Silent;
use hydra_pyindex::released::ReleasedIndex;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(repository), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: released_index REPOSITORY FOLDER".into());
    };
    let index = ReleasedIndex::build(Path::new(&repository), &Silent)?;
    for skipped in &index.skipped {
        eprintln!("skipped {}: {}", skipped.path, skipped.reason);
    }
    index.write(Path::new(&folder))?;
    Ok(())
}
