"""``python -m autotune`` is ``autotune``."""

from autotune.cli.main import run

if __name__ == "__main__":
    run()
