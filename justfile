# One-liners over the `hydra` command. `just --list` shows them.

hydra := "cargo run --release --quiet --"

# From the bundled corpus to printed tables: no network, no GPU.
demo:
    cargo run --release -- reproduce --profile mini

# Collect repositories: `just mine --source wheels --list my-list.txt --out datasets/corpora/mine`.
mine *args:
    {{hydra}} mine {{args}}

# Turn a corpus into (query, candidate, label) pairs.
pairs *args:
    {{hydra}} pairs {{args}}

# Train the dependency-aware retriever.
train *args:
    {{hydra}} train {{args}}

# Pick its threshold.
threshold *args:
    {{hydra}} threshold {{args}}

# Retrieve, generate, execute, score: `just eval repoexec --retriever bm25`.
eval *args:
    {{hydra}} eval {{args}}

# Print the tables of everything under results/.
tables *args:
    {{hydra}} tables {{args}}

# The tests, as CI runs them.
test:
    cargo test --workspace

# Everything that CI checks.
check:
    .ci/run

# Figures: `just bench index REPOSITORY...`, `just bench annotated-repoexec|annotated-deveval ...`.
bench what *args:
    @just _bench-{{what}} {{args}}

_bench-index +repositories:
    cargo bench --quiet -p hydra-pyindex --bench index -- {{repositories}}

_bench-annotated-repoexec *args:
    cargo run --release --quiet -p hydra-pyindex --example annotated -- repoexec {{args}}

_bench-annotated-deveval *args:
    cargo run --release --quiet -p hydra-pyindex --example annotated -- deveval {{args}}
