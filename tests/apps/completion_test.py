#!/usr/bin/env python3
"""Types into real shells and presses Tab: does the script of `tessera completion` complete the line?

usage: completion_test.py PROGRAM
bash is always tried; zsh and fish where they are installed.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
FILES = ['recipe.toml', 'recipe.txt', 'my recipe.toml', 'file.txt', 'folder/inside.toml', 'folly.txt']

# What is typed after `tessera ` before Tab, and the words that the line has then.
CASES = {
    'gen': ['generate'],
    '--device cp': ['--device', 'cpu'],
    '--device cpu trai': ['--device', 'cpu', 'train'],
    'train --res': ['train', '--resume'],
    'train --resume fol': ['train', '--resume', 'folder/'],
    'train --dry-run --thr': ['train', '--dry-run', '--threads'],
    'generate --preset f': ['generate', '--preset', 'fast'],
    'generate --preset=f': ['generate', '--preset=fast'],
    'generate folder --selection con': ['generate', 'folder', '--selection', 'confidence'],
    'generate fol': ['generate', 'folder/'],
    'evaluate folder --sampler as': ['evaluate', 'folder', '--sampler', 'as-printed'],
    'prepare --images ci': ['prepare', '--images', 'cifar10'],
    'score --hyp fil': ['score', '--hyp', 'file.txt'],
    'score --metric bleu,ro': ['score', '--metric', 'bleu,rouge'],
    'bpe le': ['bpe', 'learn'],
    'bpe learn --merg': ['bpe', 'learn', '--merges'],
    'help rep': ['help', 'report'],
    'completion z': ['completion', 'zsh'],
    'train recipe': ['train', 'recipe.toml'],
    'train my': ['train', 'my recipe.toml'],
    'train my\\ re': ['train', 'my recipe.toml'],
    'train recipe.toml <fil': ['train', 'recipe.toml'],
    'train recipe.toml model.ki': ['train', 'recipe.toml', 'model.kind='],
    'train recipe.toml model.kind=autoe': ['train', 'recipe.toml', 'model.kind=autoencoder'],
    'train recipe.toml data.dir=fold': ['train', 'recipe.toml', 'data.dir=folder/'],
    'flow flow.cel': ['flow', 'flow.cells='],
    'flow flow.cells=c': ['flow', 'flow.cells=cones'],
}
ALL_PRESETS = ['generate', '--preset', 'balanced', 'best', 'fast']
END = 'end-of-line'


class Shell:
    """A shell in a terminal of its own, in which `tessera` prints its arguments."""

    def __init__(self, command, folder, beginning):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(TERM='dumb', PS1='', HOME=folder, COLUMNS='10000')
            os.execvp(command[0], command)
        self.seen = ''
        self.type(beginning + f"; tessera() {{ printf '<%s>' \"$@\"; echo {END[:3]}''{END[3:]}; }}\n")
        self.type("echo rea''dy\n")
        self.wait_for('ready')

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        limit = time.monotonic() + 60
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, limit - time.monotonic()))
            if not ready:
                raise SystemExit(f'the shell does not answer; it wrote:\n{self.seen}')
            try:
                self.seen += os.read(self.terminal, 65536).decode(errors='replace')
            except OSError:
                raise SystemExit(f'the shell has ended; it wrote:\n{self.seen}') from None

    def words(self, typed, key):
        self.seen = ''
        self.type('tessera ' + typed + key)
        time.sleep(0.05)
        self.type('\n')
        self.wait_for(END)
        shown = self.seen[:self.seen.index(END)]
        return shown[shown.rindex('\n') + 1:].strip('\r<>').split('><')

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def in_terminal(command, folder, beginning, cases):
    shell = Shell(command, folder, beginning)
    found = {typed: shell.words(typed, '\t') for typed in cases}
    if command[0] == 'bash':
        found['generate --preset ~'] = shell.words('generate --preset ', '\x1b*')  # inserts all
    shell.close()
    return found


def bash(folder, script):
    settings = ['bell-style none', 'enable-bracketed-paste off', 'completion-query-items 0']
    beginning = '; '.join([f"bind 'set {setting}'" for setting in settings] + [f'source {script}'])
    return in_terminal(['bash', '--norc', '--noprofile', '-i'], folder, beginning, CASES)


def zsh(folder, script):
    place = os.path.join(folder, '.functions')
    os.mkdir(place)
    shutil.copy(script, os.path.join(place, '_tessera'))
    beginning = (f'fpath=({place} $fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste; '
                 "PROMPT=; setopt no_prompt_sp no_beep")
    return in_terminal(['zsh', '-f', '-i'], folder, beginning, CASES)


def fish(folder, script):
    """fish tells what it would offer, so no terminal is needed."""
    found = {}
    for typed in CASES:
        if '\\' in typed or '<' in typed:
            continue  # for the terminal only
        done = subprocess.run(['fish', '--no-config', '-c', f'source {script}; complete -C "tessera {typed}"'],
                              cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        offers = [line.split('\t')[0] for line in done.stdout.splitlines()]
        words = typed.split(' ')
        found[typed] = words[:-1] + (offers if len(offers) == 1 else [words[-1]])
        if done.stderr:
            raise SystemExit(f'fish: {done.stderr}')
    return found


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as scripts:
        for shell in (bash, zsh, fish):
            name = shell.__name__
            if shutil.which(name) is None:
                print(f'{name}: not installed, not tried')
                continue
            script = os.path.join(scripts, name)
            with open(script, 'w') as file:
                subprocess.run([PROGRAM, 'completion', name], stdout=file, check=True)
            with tempfile.TemporaryDirectory() as folder:
                for path in FILES:
                    os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
                    open(os.path.join(folder, path), 'w').close()
                found = shell(folder, script)
            for typed, words in found.items():
                expected = ALL_PRESETS if typed.endswith('~') else CASES[typed]
                # zsh takes the slash away again when the line is entered.
                if [word.rstrip('/') for word in words] != [word.rstrip('/') for word in expected]:
                    failures += 1
                    print(f'{name}: tessera {typed}<Tab> gives {words}, not {expected}')
            print(f'{name}: {len(found)} lines')
    sys.exit(1 if failures else 0)


main()
