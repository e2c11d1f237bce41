"""`python -m agent.cli`: the same as `reticent`, by an interpreter that is named."""

from agent.cli.main import run

if __name__ == "__main__":
    run()
