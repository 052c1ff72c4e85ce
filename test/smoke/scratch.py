# SPDX-License-Identifier: BSD-3-Clause
"""What a test makes outside of its process and must not outlive it: network namespaces, with all
that runs inside, and a folder.

A shell in a session of its own makes them, and removes them when its input ends: when the test says
so, and when the test has ended in any other way, by kill -9 too.
"""
import pathlib
import shlex
import subprocess
import tempfile

# Lines come in pairs: how to make a thing, how to remove it. What was made last goes first.
KEEPER = '''
exec 3>&1 >&2
end_all_inside() {
  for _ in $(seq 100); do
    pids=$(ip netns pids "$1") && [ "$pids" ] || break
    kill -KILL $pids 2>/dev/null
    sleep 0.05
  done
}
while read -r make && read -r remove; do
  result=failed
  if eval "$make" </dev/null; then result=made removal="$remove; $removal"; fi
  echo $result >&3
done
eval "$removal"
'''


class Scratch:
    def __init__(self):
        self.keeper = subprocess.Popen(['sh', '-c', KEEPER], stdin=subprocess.PIPE, text=True,
                                       stdout=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def make(self, make, remove):
        """By two shell commands, each in one line."""
        self.keeper.stdin.write(f'{make}\n{remove}\n')
        self.keeper.stdin.flush()
        if self.keeper.stdout.readline() != 'made\n':
            raise OSError(f'{make}: failed, as told above')

    def namespace(self, name):
        self.make(f'ip netns add {name}', f'end_all_inside {name}; ip netns del {name}')
        return name

    def folder(self, prefix):
        """A new one, whose name begins so."""
        path = tempfile.mkdtemp(prefix=prefix)
        self.make(':', f'rm -rf {shlex.quote(path)}')
        return pathlib.Path(path)

    def remove(self):
        self.keeper.communicate()
