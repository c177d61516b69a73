"""shares_test.py PROGRAM MODEL_MAKER: work that is shared by 1, 2 or 7 processes joins to the same result."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, MAKER = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:])
failures = []


def check(what, good, detail=""):
    print(f"{'ok  ' if good else 'FAIL'} {what} {detail if not good else ''}".rstrip(), flush=True)
    if not good:
        failures.append(what)


def run(*words, expect=0):
    made = subprocess.run([PROGRAM, "-q", *map(str, words)], capture_output=True, stdin=subprocess.DEVNULL)
    check(f"tessera {words[0]} ends with {expect}", made.returncode == expect, f"{words} {made.stderr.decode()}")
    return made.stdout, made.stderr.decode()


with tempfile.TemporaryDirectory(prefix="tessera-shares-") as scratch:
    there = pathlib.Path(scratch)
    text, images, lines = there / "text", there / "images", there / "lines"
    subprocess.run([MAKER, text, images], check=True)
    lines.write_text("".join(f"{'abcdefgh'[k % 8]} {'hgfedcba'[k * 3 % 8]}\n" for k in range(95)))

    # Blocks hold the same lines however many processes there are, so batches and rounding are the same, too.
    whole = None
    for count in (1, 2, 7):
        out = there / f"out-{count}"
        for index in range(count, 0, -1):
            run("generate", text, "--input", lines, "--out", out, "--shard", f"{index}/{count}", "--block", 10, "--steps", 3)
        joined = run("generate", "--join", out)[0]
        whole = whole or joined
        check(f"generate: {count} processes make what one makes", joined == whole and joined.count(b"\n") == 95)
    plain = run("generate", text, "--input", lines, "--chunk", 10, "--steps", 3)[0]
    check("generate: without shares it is the same", plain == whole)

    gaps = there / "gaps"
    words = ("generate", text, "--input", lines, "--out", gaps, "--block", 10, "--steps", 3)
    run(*words, "--shard", "1/2")
    _, said = run("generate", "--join", gaps, expect=1)
    check("generate: gaps are named", "5 of 10 blocks are missing" in said and "1, 3, 5, 7, 9" in said, said)
    _, said = run(*words[:-1], 4, "--shard", "2/2", expect=1)
    check("generate: another job is refused", "blocks of another job" in said and "options" in said, said)
    _, said = run("generate", text, "--out", gaps, "--shard", "2/2", expect=2)
    check("generate: standard input is refused", "--input FILE" in said, said)
    for shard in ("0/2", "3/2", "x"):
        _, said = run(*words, "--shard", shard, expect=2)
        check(f"generate: --shard {shard} is refused", "2/7" in said, said)
    _, said = run("generate", "--join", there / "nothing", expect=1)
    check("generate: a folder without blocks is refused", "holds no blocks" in said, said)

    # Killed at some moment and started again.
    killed = there / "killed"
    words = ("generate", text, "--input", lines, "--out", killed, "--block", 2, "--steps", 3, "--shard", "1/1")
    child = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and len(list(killed.glob("block-*"))) < 3:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = {path: path.stat().st_mtime_ns for path in killed.glob("block-*")}
    run(*words)
    kept = all(path.stat().st_mtime_ns == time_ns for path, time_ns in before.items())
    check("generate: a killed process goes on, and keeps what is there", kept and
          run("generate", "--join", killed)[0].count(b"\n") == 95, before)

    made = None
    for count in (1, 2, 7):
        out = there / f"images-{count}"
        for index in range(1, count + 1):
            run("sample", images, "--count", 20, "--out", out, "--shard", f"{index}/{count}", "--block", 3, "--steps", 2)
        run("sample", "--join", out, "--npz", there / "joined.npz")
        made = made or (there / "joined.npz").read_bytes()
        check(f"sample: {count} processes make what one makes", (there / "joined.npz").read_bytes() == made)
    run("sample", "--join", there / "images-2", "--grid", there / "grid.png", "--out", there / "pictures")
    check("sample: pictures of what was joined", (there / "grid.png").stat().st_size > 0 and
          len(list((there / "pictures").iterdir())) == 20)

print(f"{len(failures)} failed" if failures else "all passed")
sys.exit(bool(failures))
