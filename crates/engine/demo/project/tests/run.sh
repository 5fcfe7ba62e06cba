#!/bin/sh
# Runs every tests/*_test.sh (or those named) in a scratch folder of its own; says what passed and what failed.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$here"/tests/*_test.sh
passed=0
failed=0
for test in "$@"; do
    case "$test" in /*) ;; *) test="$here/$test" ;; esac
    scratch=$(mktemp -d)
    if (cd "$scratch" && JOT=$here/bin/jot sh -eu "$test") >"$scratch/.out" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $(basename "$test")"
    else
        failed=$((failed + 1))
        echo "FAILED  $(basename "$test")"
        sed 's/^/        /' "$scratch/.out"
    fi
    rm -rf "$scratch"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
