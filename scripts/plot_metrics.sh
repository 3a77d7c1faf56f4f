#!/usr/bin/env bash
# Draws the curves of a run with `python3 dojo.py plot`: charts/*.png in its folder.
#
#   scripts/plot_metrics.sh              the run trained last
#   scripts/plot_metrics.sh RUN          that one
#   scripts/plot_metrics.sh RUN RUN ...  each of them, and all compared
#
# From outside:
#   GODOJO       another command than `python3 dojo.py`, for example: .venv/bin/godojo
#   GODOJO_RUNS  folder of runs (runs/)
set -euo pipefail

DEADLINE_S=900 # the first time everything is set up, too

cd "$(dirname "$0")/.."
deadline="$(command -v timeout || command -v gtimeout)" || {
	echo "scripts/plot_metrics.sh: there is no 'timeout' here; install it (on macOS: brew install coreutils)" >&2
	exit 2
}
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"
exec "$deadline" --foreground --signal=INT --kill-after=10 "$DEADLINE_S" "${godojo[@]}" plot "$@"
