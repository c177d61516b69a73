"""processes_test.py PROGRAM [--long]: several processes train as one, and what happens when one of them fails.

--long also kills a process at 20 random moments, and starts processes with torchrun where it is installed.
"""
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
LONG = "--long" in sys.argv
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = [str(ROOT / "recipes" / "tiny.toml"), "model.width=16", "model.feedforward=16", "model.heads=2", "model.layers=1",
          "model.dropout=0.1", "data.pairs=400", "data.tokens=256", "train.accumulate=2", "train.steps=40",
          "train.save_every=8", "train.validate_every=20", "train.validate_sentences=8", "train.log_every=4",
          "train.keep_last=10"]
LIMIT = 120  # seconds for anything
failures = []


def check(what, good, detail=""):
    print(f"{'ok  ' if good else 'FAIL'} {what} {detail if not good else ''}".rstrip(), flush=True)
    if not good:
        failures.append(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """One `tessera train`; its stderr goes to a file."""

    def __init__(self, folder, rank, size, port, words, setup=None):
        self.log = folder / f"log-{rank}-{time.monotonic_ns()}"
        environment = dict(os.environ, OMP_WAIT_POLICY="PASSIVE")
        if size:
            environment.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(size),
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        with open(self.log, "w") as log:
            self.child = subprocess.Popen([PROGRAM, "--threads", "1", "train", *words], env=environment, cwd=folder,
                                          stdout=log, stderr=log, preexec_fn=setup)

    def end(self):
        try:
            return self.child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return f"no end after {LIMIT} s"

    def said(self):
        return self.log.read_text()


def start(folder, size, words, setups=()):
    port = free_port()
    return [Process(folder, rank, size, port, words, dict(setups).get(rank)) for rank in range(size)]


def newest(run):
    steps = sorted((run / "checkpoints").glob("step-*"))
    return int(steps[-1].name[5:]) if steps else 0


def wait_for_step(run, step):
    end = time.monotonic() + LIMIT
    while newest(run) < step and time.monotonic() < end:
        time.sleep(0.01)


def weights(run, step=40):
    return (run / "checkpoints" / f"step-{step:08}" / "training.safetensors").read_bytes()


def whole_sentence(text):
    return not any(mark in text for mark in ("frame #", "Exception raised from", "terminate called", "what():"))


def equal_bits(folder):
    one = Process(folder, 0, 0, 0, [*RECIPE, "train.out=one"])
    check("a single process trains", one.end() == 0, one.said())
    two = start(folder, 2, [*RECIPE, "train.out=two"])
    codes = [each.end() for each in two]
    check("two processes train", codes == [0, 0], f"{codes} {two[0].said()} {two[1].said()}")
    check("two processes reach the weights of one, bit for bit", weights(folder / "two") == weights(folder / "one"))
    check("process 1 says nothing but warnings", "loss" not in two[1].said(), two[1].said())


def killed(folder, name, step):
    """Kills a process, then goes on alone with the same command."""
    words = [*RECIPE, f"train.out={name}", "--or-resume", "--rank-timeout", "20"]
    processes = start(folder, 2, words)
    wait_for_step(folder / name, step)
    victim = random.randrange(2)
    time.sleep(random.random() / 20)
    processes[victim].child.send_signal(signal.SIGKILL)
    other = processes[1 - victim]
    code = other.end()
    processes[victim].end()
    if code == 0:  # it had finished already
        return
    gone = "does not answer" in other.said() or "did not meet" in other.said()  # before they met
    check(f"{name}: the other ends with 75, in a sentence", code == 75 and gone and whole_sentence(other.said()),
          f"{code} {other.said()}")
    again = Process(folder, 0, 0, 0, words)
    check(f"{name}: one process goes on", again.end() == 0, again.said())
    check(f"{name}: with the weights of an undisturbed run", weights(folder / name) == weights(folder / "one"))


def stopped(folder):
    processes = start(folder, 2, [*RECIPE, "train.out=stopped"])
    wait_for_step(folder / "stopped", 8)
    processes[1].child.send_signal(signal.SIGTERM)  # one of them; the other is told
    codes = [each.end() for each in processes]
    check("a signal to one stops both, after saving", codes == [143, 143], f"{codes} {processes[0].said()}")
    step = newest(folder / "stopped")
    again = start(folder, 2, ["--resume", "stopped"])
    codes = [each.end() for each in again]
    check("both go on", codes == [0, 0] and step < 40, f"{codes} {step} {again[0].said()} {again[1].said()}")
    check("a stopped run has the weights of one that was not", weights(folder / "stopped") == weights(folder / "one"))


def frozen(folder):
    processes = start(folder, 2, [*RECIPE, "train.out=frozen", "--rank-timeout", "2"])
    wait_for_step(folder / "frozen", 8)
    processes[1].child.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    code = processes[0].end()
    seconds = time.monotonic() - begin
    check("a process that stands still is given up after the timeout", code == 75 and seconds < 15 and
          whole_sentence(processes[0].said()), f"{code} {seconds:.1f} s {processes[0].said()}")
    processes[1].child.kill()
    processes[1].end()


def full_disk(folder):
    def little_room():  # for a file: less than a checkpoint
        resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
    processes = start(folder, 2, [*RECIPE, "train.out=full", "--rank-timeout", "20"], {0: little_room}.items())
    codes = [each.end() for each in processes]
    check("a full disk ends both", codes[0] == 1 and codes[1] in (1, 75) and
          all(whole_sentence(each.said()) for each in processes), f"{codes} {processes[0].said()} {processes[1].said()}")


def wrong_usage(folder):
    def both(name, words, expected, others=None):
        port = free_port()
        processes = [Process(folder, 0, 2, port, [*words, "--rank-timeout", "10"]),
                     Process(folder, 1, 2, port, [*(others or words), "--rank-timeout", "10"])]
        codes = [each.end() for each in processes]
        text = processes[0].said() + processes[1].said()
        check(name, codes[0] in (1, 2) and codes[1] in (1, 2) and expected in text and whole_sentence(text), f"{codes} {text}")
        check(f"{name}: nothing is left", not (folder / "wrong").exists())
    words = [*RECIPE, "train.out=wrong"]
    both("fewer batches than processes are refused", [*words, "train.accumulate=1"], "fewer batches than there are processes")
    both("different recipes are refused", words, "another configuration than process 0: 'seed = 2'", [*words, "train.seed=2"])
    alone = Process(folder, 5, 2, free_port(), words)
    check("a number too high is refused", alone.end() == 2 and "no process 5 among 2" in alone.said(), alone.said())
    alone = Process(folder, 0, 2, free_port(), [*words, "--rank-timeout", "1"])
    check("a process that never comes is given up", alone.end() == 75 and "did not meet" in alone.said() and
          whole_sentence(alone.said()), alone.said())
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        alone = Process(folder, 0, 2, taken.getsockname()[1], [*words, "--rank-timeout", "2"])
        check("a port that is taken is named", alone.end() == 75 and str(taken.getsockname()[1]) in alone.said() and
              "MASTER_PORT" in alone.said() and whole_sentence(alone.said()), alone.said())


def other_data(folder):
    """The run's own data differ where the folders do: both see a run, but not the same."""
    def prepared(name, lines):
        for part in ("train", "valid"):
            for side in ("src", "tgt"):
                (folder / f"{name}.{part}.{side}").write_text("".join(f"{line} a b c\n" for line in lines))
        subprocess.run([PROGRAM, "-q", "prepare", "--train", f"{name}.train.src", f"{name}.train.tgt", "--valid",
                        f"{name}.valid.src", f"{name}.valid.tgt", "--vocab", "100", "--out", name], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    prepared("data-a", ["one", "two", "three"] * 20)
    prepared("data-b", ["one", "two", "three"] * 21)
    (folder / "here").mkdir()
    (folder / "there").mkdir()
    (folder / "here" / "data").symlink_to(folder / "data-a")
    (folder / "there" / "data").symlink_to(folder / "data-b")
    words = [*RECIPE, "data.task=none", "data.dir=data", f"train.out={folder}/other", "--rank-timeout", "10"]
    port = free_port()
    processes = [Process(folder / "here", 0, 2, port, words), Process(folder / "there", 1, 2, port, words)]
    codes = [each.end() for each in processes]
    text = processes[0].said() + processes[1].said()
    check("different data are refused", all(code in (1, 2) for code in codes) and "other data than process 0" in text and
          not (folder / "other").exists(), f"{codes} {text}")


def torchrun(folder):
    program = shutil.which("torchrun", path=f"{ROOT}/.venv/bin:{os.environ['PATH']}")
    if not program:
        print("skip torchrun: it is not installed")
        return
    words = [program, "--no-python", "--nproc-per-node", "2", "--max-restarts", "2", "--master-port", str(free_port()),
             PROGRAM, "--threads", "1", "train", *RECIPE, "train.out=torchrun", "--or-resume"]
    child = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for_step(folder / "torchrun", 8)
    workers = subprocess.run(["pgrep", "-f", f"{PROGRAM} --threads 1 train .*train.out=torchrun"], capture_output=True,
                             text=True).stdout.split()
    own = [int(pid) for pid in workers if pathlib.Path(f"/proc/{pid}/exe").resolve() == pathlib.Path(PROGRAM)]
    os.kill(random.choice(own), signal.SIGKILL)
    _, text = child.communicate(timeout=LIMIT)
    check("torchrun starts all again after a kill", child.returncode == 0, text[-2000:])
    check("torchrun: with the weights of an undisturbed run", weights(folder / "torchrun") == weights(folder / "one"))


with tempfile.TemporaryDirectory(prefix="tessera-ranks-") as scratch:
    there = pathlib.Path(scratch)
    equal_bits(there)
    killed(there, "killed", 8)
    stopped(there)
    frozen(there)
    full_disk(there)
    wrong_usage(there)
    other_data(there)
    if LONG:
        random.seed(1)
        for number in range(20):
            killed(there, f"killed-{number}", random.choice((0, 8, 16, 24, 32)))
        torchrun(there)

print(f"{len(failures)} failed" if failures else "all passed")
sys.exit(bool(failures))
