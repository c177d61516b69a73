"""`python -m tessera` is the program `tessera`, with the LibTorch of this Python's torch."""

import os
import pathlib
import sys

import torch


def main() -> None:
    program = pathlib.Path(__file__).parent / "bin" / "tessera"
    if not program.exists():
        sys.exit(f"error: the program is not there: {program}")
    libraries = pathlib.Path(torch.__file__).parent / "lib"
    others = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{libraries}:{others}" if others else str(libraries)
    sys.stdout.flush()
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
