#!/usr/bin/env bash
# Draws all pictures of README.md and docs/gallery.md that show a training anew, from a run: docs/pictures/clip.webp,
# film-*.jpg, camera-*.jpg and learning.png.
#
#   scripts/make_pictures.sh        the run trained last
#   scripts/make_pictures.sh RUN    that one
#
# From outside:
#   GODOT_BIN    another Godot than the one `python3 dojo.py engine install` brought
#   GODOJO       another command than `python3 dojo.py`, for example: .venv/bin/godojo
#   GODOJO_RUNS  where runs lie (runs/)
set -euo pipefail

DEADLINE_S=3600

cd "$(dirname "$0")/.."
run="${1:-latest}"
[ $# -eq 0 ] || shift
deadline="$(command -v timeout || command -v gtimeout)" || {
	echo "scripts/make_pictures.sh: there is no 'timeout' here; install it (on macOS: brew install coreutils)" >&2
	exit 2
}
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"
exec "$deadline" --foreground --signal=INT --kill-after=10 "$DEADLINE_S" \
	"${godojo[@]}" film "$run" --pictures docs/pictures "$@"
