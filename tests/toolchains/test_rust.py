"""A Rust crate, built by cargo from the home of the tool chain, which is shown read-only."""

from tests.cases.conftest import Make
from tests.toolchains.conftest import kept_outside, needs, scene

FILES = {
    ".gitignore": "target/\n",
    "Cargo.toml": '[package]\nname = "prog"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "prog"\nversion = "0.1.0"\n',
    "src/main.rs": 'mod steps;\nfn main() { println!("METRIC size={}", steps::STEPS); }\n',
    "src/steps.rs": "pub const STEPS: u32 = 200;\n",
    "exp/evaluate.sh": "#!/bin/sh -e\ncargo run -q --release --offline --message-format=short 2>err\ntest ! -s err\n",
}
BUILD = "build: {run: [cargo, build, --release, --offline], timeout_seconds: 120}\n"


def test_each_side_is_built_by_cargo_and_fresh_when_it_is_read(make: Make) -> None:
    needs("cargo")
    fresh = '#!/bin/sh -e\ncargo build -v --release --offline 2>&1 | grep -q "Fresh prog" || { echo stale >&2; exit 3; }\n'
    rust = scene(make, {**FILES, "exp/evaluate.sh": fresh + "target/release/prog\n"}, BUILD)
    assert rust.turns("sed -i s/200/150/ src/steps.rs", "echo 'fn broken( {' >> src/steps.rs")[0] == 0
    assert rust.statuses == ["keep", "crash"], rust.reasons
    assert rust.facts("Decided")[0]["metric_value"] == 150.0
    assert rust.reasons[1].startswith("build: exit code 101; ")
    assert "could not compile `prog`" in rust.reasons[1]
    assert kept_outside(rust, "target")
