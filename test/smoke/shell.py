# SPDX-License-Identifier: BSD-3-Clause
"""A command of the system, for the tests that build networks: it succeeds in time, or says why."""
import subprocess


def run(command, check=True, seconds=30):
    """The standard output of a list, or of a string that is split at blanks."""
    result = subprocess.run(command if isinstance(command, list) else command.split(),
                            capture_output=True, text=True, timeout=seconds)
    if check and result.returncode != 0:
        raise AssertionError(f'{command}: {result.stdout}{result.stderr}')
    return result.stdout
