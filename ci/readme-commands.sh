#!/usr/bin/env bash
# Prints the commands that README.md tells a newcomer to run: the lines of the code block between the marker
# comments. `.ci/run` runs this output, so the page cannot drift from what was checked.
set -euo pipefail
cd "$(dirname "$0")/.."

commands=$(awk '/<!-- commands: / { on = 1; next } /<!-- end of commands -->/ { on = 0 } on && NF && !/^```/' README.md)
if [ -z "$commands" ]; then
    echo 'ci/readme-commands.sh: README.md has no commands between "<!-- commands: -->" and "<!-- end of commands -->"' >&2
    exit 1
fi
printf '%s\n' "$commands"
