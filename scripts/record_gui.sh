#!/usr/bin/env bash
# Draws rounds of a run with the real Godot, over the shoulder of one role, and leaves the frames in trainer/frames as
# frame_00000.png, frame_00001.png and so on.
# `scripts/encode_frames.sh` makes a film of them. Where there is no display, Xvfb stands in for one.
#
#   scripts/record_gui.sh seeker        the run trained last, over the seeker's shoulder
#   scripts/record_gui.sh hider         over the hider's
#   scripts/record_gui.sh chaser        another name for seeker
#   scripts/record_gui.sh runner        another name for hider
#   scripts/record_gui.sh walker RUN    of that run, which plays navigation
#
# Words after the run go to `python3 dojo.py record`, for example:
#   scripts/record_gui.sh seeker latest --episodes 5 --preset 1080p60
#
# From outside:
#   GODOT_BIN    another Godot than the one `python3 dojo.py engine install` brought
#   GODOJO       another command than `python3 dojo.py`, for example: .venv/bin/godojo
#   GODOJO_RUNS  folder of runs (runs/)
set -euo pipefail

DEADLINE_S=7200 # without a GPU a frame may take a second

fail() {
	echo "scripts/record_gui.sh: $*" >&2
	exit 2
}

cd "$(dirname "$0")/.."
hero="${1:-}"
case "$hero" in
'' | -*) fail "name the role to follow, for example: seeker" ;;
chaser) hero=seeker && shift ;;
runner) hero=hider && shift ;;
*) shift ;;
esac
run=latest
case "${1:-}" in
'' | -*) ;;
*)
	run="$1"
	shift
	;;
esac
deadline="$(command -v timeout || command -v gtimeout)" ||
	fail "there is no 'timeout' here; install it (on macOS: brew install coreutils)"
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"
exec "$deadline" --foreground --signal=INT --kill-after=10 "$DEADLINE_S" \
	"${godojo[@]}" record "$run" --camera follow --hero "$hero" --frames trainer/frames "$@"
