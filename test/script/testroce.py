# SPDX-License-Identifier: BSD-3-Clause
"""Runs uroce-testroce on a pair of memory rings, without huge pages and without root."""
import subprocess
import tempfile

EAL = ['--no-huge', '--no-pci', '--no-shconf', '--no-telemetry', '-m', '256', '-l', '0']
PORTS = ['--rings', '1', '--port', 'net_ring_u0,address=10.0.0.1/24',
         '--port', 'net_ring_u1,address=10.0.0.2/24']


def run(program, eal=EAL, own=PORTS, text=''):
    """The finished process; `text` is what it reads as commands."""
    return subprocess.run([program, *eal, '--', *own], input=text, capture_output=True, text=True,
                          timeout=60)


def run_file(program, commands, own=PORTS):
    """The same with the commands in a file; also returns the file's name."""
    with tempfile.NamedTemporaryFile('w', suffix='.testroce') as file:
        file.write(commands)
        file.flush()
        return run(program, own=[*own, '--cmdline-file', file.name]), file.name


def refusal(result):
    """What a run said as it ended with an error: one line of ours, the last on stderr."""
    assert result.returncode == 1, result
    lines = result.stderr.strip().splitlines()
    ours = [line for line in lines if line.startswith('uroce-testroce: ')]
    assert len(ours) == 1 and lines[-1] == ours[0], result.stderr
    return ours[0].removeprefix('uroce-testroce: ')


def counters(output, port):
    """{(group, name): value} of the last `show counters PORT` in the output."""
    found = {}
    for line in output.split(f'port {port}: counters\n')[-1].splitlines():
        words = line.split()
        if not line.startswith('  ') or len(words) < 3:
            break
        found[words[0], words[1]] = int(words[2])
    return found
