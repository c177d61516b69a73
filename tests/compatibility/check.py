"""check.py PROGRAM: what commit 441d5c2 made (fixture/) still loads, resumes, and gives the same results.

Text must be equal, weights to 1e-5, pixels in all but one value of a hundred: rounding differs between machines.
"""
import pathlib
import shutil
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from results import SMALL, compare_with  # noqa: E402

FIXTURE = HERE / "fixture"
failures = []


def check(what, good, detail=""):
    print(f"{what}: {'as before' if good else 'NOT as before'} {detail}".rstrip())
    if not good:
        failures.append(what)


def check_weights(what, run_folder, expected):
    name = "model.safetensors"
    new = compare_with.tensors(compare_with.checkpoint(run_folder, 20) / name)
    old = compare_with.tensors(compare_with.checkpoint(expected, 20) / name)
    if [(n, *t[:2]) for n, t in sorted(new.items())] != [(n, *t[:2]) for n, t in sorted(old.items())]:
        check(what, False, "names, types or shapes differ")
        return
    largest = 0.0
    for tensor, (kind, _, data) in old.items():
        if kind == "F32":
            pairs = zip(memoryview(data).cast("f"), memoryview(new[tensor][2]).cast("f"))
            largest = max([largest, *(abs(a - b) for a, b in pairs)])
        elif data != new[tensor][2]:
            check(what, False, tensor)
            return
    check(what, largest <= 1e-5, f"(largest difference {largest:.2g})")


def pixels(file):
    with zipfile.ZipFile(file) as archive:
        return b"".join(archive.read(name) for name in sorted(archive.namelist()))


def check_pixels(what, file):
    old, new = pixels(FIXTURE / "samples.npz"), pixels(file)
    differing = sum(a != b for a, b in zip(old, new))
    check(what, len(old) == len(new) and differing * 100 <= len(old), f"({differing} of {len(old)} values differ)")


with tempfile.TemporaryDirectory(prefix="tessera-compatibility-") as scratch:
    program = compare_with.Program(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch) / "made")
    before = program.folder / "before"
    shutil.copytree(FIXTURE, before, symlinks=True)
    text = (FIXTURE / "text.txt").read_bytes()
    check("text of the run", program.generate(before / "text") == text)
    check("text of the model folder", program.generate(compare_with.checkpoint(before / "text", 20)) == text)
    program.sample(before / "images", "samples.npz")
    check_pixels("images of the run", program.folder / "samples.npz")

    program("train", HERE / "tiny.toml", "train.out=text", *SMALL)
    check_weights("text, 20 updates", program.folder / "text", FIXTURE / "text")
    program("train", HERE / "images.toml", f"data.dir={before / 'set'}", "train.out=images", "model.width=4")
    check_weights("images, 20 updates", program.folder / "images", FIXTURE / "images")

    for name in ("text", "images"):
        compare_with.cut_back(before / name, 10)
        program("train", "--resume", name, cwd=before)
        check_weights(f"{name}, resumed after 10 updates", before / name, FIXTURE / name)

sys.exit(1 if failures else 0)
