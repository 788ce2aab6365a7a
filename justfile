# One-liners over the `hydra` command. `just --list` shows them.

hydra := "cargo run --release --quiet --"

# Collect repositories: `just mine --source wheels --list my-list.txt --out datasets/corpora/mine`.
mine *args:
    {{hydra}} mine {{args}}

# Turn a corpus into (query, candidate, label) pairs.
pairs *args:
    {{hydra}} pairs {{args}}

# Retrieve, generate, execute, score.
eval *args:
    {{hydra}} eval {{args}}

# The tests, as CI runs them.
test:
    cargo test --workspace

# Everything that CI checks.
check:
    .ci/run
