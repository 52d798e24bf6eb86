#!/usr/bin/env bash
# Prints the failures in a log of `.ci/run`: the README's commands and the steps that failed, then the lines
# that name a test, a panic or an error. At most 60 lines, so that the end of a long log shows the cause.
set -euo pipefail
log=${1:?usage: ci/failures.sh LOG}

failed=$(grep -E '^== .*: FAILED' "$log" || true)
causes=$(grep -nE '^test .*FAILED|panicked at|(^|[^a-z])error(\[[A-Z0-9]+\])?: ' "$log" | grep -vE '^[0-9]+:== ' || true)
{
    if [ -n "$failed" ]; then printf '%s\n' "$failed"; else
        echo "no command and no step says that it failed; the log ends with:"
        tail -n 5 "$log"
    fi
    if [ -n "$causes" ]; then printf '%s\n' "by the lines of $log:" "$causes"; fi
} | sed -n 1,60p
