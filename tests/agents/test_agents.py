import subprocess
import sys
from pathlib import Path

from runner.agents import AGENTS


def test_each_agent_that_needs_no_model_is_in_the_table() -> None:
    assert {"tuner", "patches", "command"} <= set(AGENTS)


def test_the_runner_s_own_process_loads_nothing_heavy_for_them() -> None:
    heavy = "{'optuna', 'ruamel.yaml', 'email', 'jsonschema'}"
    code = f"import sys, runner.agents, runner.evaluators; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
