"""`python -m tessera` is the program `tessera`, with the LibTorch of this Python's torch."""

import importlib.util
import os
import pathlib
import sys


def main() -> None:
    program = pathlib.Path(__file__).parent / "bin" / "tessera"
    if not program.exists():
        sys.exit(f"error: the program is not there: {program}")
    # torch itself is not imported: that takes seconds, and the program is another process.
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("error: tessera needs torch: pip install torch")
    libraries = pathlib.Path(spec.submodule_search_locations[0]) / "lib"
    others = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{libraries}:{others}" if others else str(libraries)
    sys.stdout.flush()
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
