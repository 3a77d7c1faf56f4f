#!/usr/bin/env bash
# Trains tag with `python3 dojo.py train`, and leaves the run's policies and log in trainer/.
#
#   scripts/train.sh live-seeker   real Godot, headless: the seeker learns, the hider plays as it is
#   scripts/train.sh live-hider    the other way round
#   scripts/train.sh live-chaser   another name for live-seeker
#   scripts/train.sh live-runner   another name for live-hider: the second agent, which does not learn, starts as "it"
#   scripts/train.sh self-play     real Godot, headless: both learn
#   scripts/train.sh stub          the embedded game, no Godot needed: both learn
#
# The live ones begin with the newest policies of both roles; where there are none, some are trained in the embedded
# game first, for a minute at most. They end with a table of how often the role that learnt wins, before and after.
#
# Without a Godot, all but stub start the server instead, `python3 dojo.py serve --train`: open the project godot/ in
# your own Godot and press Play. Both learn for AI_TRAIN_DURATION from then on, and the scene shows it; Ctrl-C ends it.
#
# Words after the first go to `python3 dojo.py train`, for example:
#   scripts/train.sh live-seeker --init-from my-run --seed 2
#
# From outside:
#   AI_TRAIN_DURATION         seconds to train (300)
#   AI_PROGRESS_REWARD_SCALE  reward for a metre: closed (seeker), opened (hider)
#   AI_TIME_PENALTY           what a decision costs the seeker, and gives the hider
#   AI_TAG_BONUS              what a tag gives the seeker, and costs the hider
#   AI_STEP_TICK_INTERVAL     ticks of the game between two decisions
#   AI_LOG_TRAJECTORIES       rounds of every snapshot to keep in the run's trajectories/, tick by tick (0)
#   GODOT_BIN                 another Godot than the one `python3 dojo.py engine install` brought
#   GODOJO                    another command than `python3 dojo.py`, for example: .venv/bin/godojo
#   GODOJO_RUNS               folder of runs (runs/)
set -euo pipefail

GRACE_S=900 # to be set up the first time, to begin, to be judged and to end

fail() {
	echo "scripts/train.sh: $*" >&2
	exit 2
}

negative() { # of a number in words
	case "$1" in -*) echo "${1#-}" ;; *) echo "-$1" ;; esac
}

cd "$(dirname "$0")/.."
mode="${1:-}"
[ $# -eq 0 ] || shift
runs="${GODOJO_RUNS:-runs}"
case "$mode" in
live-chaser) mode=live-seeker ;;
live-runner) mode=live-hider ;; # the agent that starts as "it" is the seeker
esac
run="$mode-$(date +%Y%m%d-%H%M%S)-$$"
duration="${AI_TRAIN_DURATION:-300}"
case "$duration" in
'' | *[!0-9]* | 0) fail "AI_TRAIN_DURATION must be a whole number of seconds above 0, not '$duration'" ;;
esac
trajectories="${AI_LOG_TRAJECTORIES:-0}"
case "$trajectories" in
*[!0-9]*) fail "AI_LOG_TRAJECTORIES must be a whole number of rounds, not '$trajectories'" ;;
esac

minutes() { # of seconds
	LC_ALL=C awk "BEGIN { printf \"%.4f\", $1 / 60 }"
}

words=(--minutes "$(minutes "$duration")")
game=() # settings of the game
# Few worlds and policies that know something already: shorter steps on larger batches than from scratch.
live=(--engine godot --set past_opponent_fraction=0 --set exploiter_fraction=0 --set num_worlds=128 --set n_minibatches=4
	--set learning_rate=0.0007 --set final_learning_rate=0.0002)
case "$mode" in
live-seeker) words+=("${live[@]}" --freeze hider) ;;
live-hider) words+=("${live[@]}" --freeze seeker) ;;
self-play) words+=(--engine godot) ;;
stub) words+=(--engine sim) ;;
*) fail "say what to train: live-seeker, live-hider, self-play or stub (or live-chaser, live-runner)" ;;
esac
if [ -n "${AI_PROGRESS_REWARD_SCALE:-}" ]; then
	game+=(--set "rewards.seeker.distance_per_m=$(negative "$AI_PROGRESS_REWARD_SCALE")")
	game+=(--set "rewards.hider.distance_per_m=$AI_PROGRESS_REWARD_SCALE")
fi
if [ -n "${AI_TIME_PENALTY:-}" ]; then
	game+=(--set "rewards.seeker.time_per_decision=$(negative "$AI_TIME_PENALTY")")
	game+=(--set "rewards.hider.time_per_decision=$AI_TIME_PENALTY")
fi
if [ -n "${AI_TAG_BONUS:-}" ]; then
	game+=(--set "rewards.seeker.tag=$AI_TAG_BONUS")
	game+=(--set "rewards.hider.tag=$(negative "$AI_TAG_BONUS")")
fi
if [ "$trajectories" != 0 ]; then
	words+=(--log-trajectories "$trajectories")
fi
if [ -n "${AI_STEP_TICK_INTERVAL:-}" ]; then
	game+=(--set "rules.ticks_per_decision=$AI_STEP_TICK_INTERVAL")
fi

deadline="$(command -v timeout || command -v gtimeout)" ||
	fail "there is no 'timeout' here; install it (on macOS: brew install coreutils)"
read -ra godojo <<<"${GODOJO:-python3 dojo.py}"

train() { # for so many seconds, with these words
	local seconds="$1"
	shift
	"$deadline" --foreground --signal=INT --kill-after=60 "$((seconds + GRACE_S))" \
		"${godojo[@]}" train tag ${game[@]+"${game[@]}"} "$@"
}

serve() { # until Ctrl-C, with these words: a person needs time to find and open the editor
	cat >&2 <<-TEXT
		No Godot was found here, so this is the server alone. Open the project $PWD/godot in your Godot and press Play.
		(Or install Godot with: ${godojo[*]} engine install)
	TEXT
	"${godojo[@]}" serve --train ${game[@]+"${game[@]}"} "$@"
}

is_server=
# A Godot that is named but does not run is an error; none at all is not.
if [ "$mode" != stub ] && [ -z "${GODOT_BIN:-}" ] && ! "${godojo[@]}" engine path >/dev/null 2>&1; then
	is_server=yes
fi

case "$is_server$mode $*" in
live-*--init-from*) ;;
live-*)
	"${godojo[@]}" engine path >/dev/null # better now than after a minute
	newest=
	for file in "$runs"/*/policy_seeker.pt; do
		if [ -f "$file" ] && { [ -z "$newest" ] || [ "$file" -nt "$newest" ]; }; then newest="$file"; fi
	done
	if [ -z "$newest" ]; then
		first_s=$((duration < 60 ? duration : 60))
		echo "there is no run yet to begin with: one is trained in the embedded game first, $first_s s" >&2
		train "$first_s" --minutes "$(minutes "$first_s")" --judge 0 --run-id "first-$run"
		newest="$runs/first-$run/policy_seeker.pt"
	fi
	words+=(--init-from "$(dirname "$newest")")
	;;
esac

status=0
if [ -n "$is_server" ]; then
	serve --minutes "$(minutes "$duration")" --run-id "$run" "$@" || status=$?
else
	train "$duration" "${words[@]}" "$@" --run-id "$run" || status=$?
fi
case "$status" in
124 | 137) echo "scripts/train.sh: stopped, $GRACE_S s after training should have ended" >&2 ;;
esac

if compgen -G "$runs/$run/policy*.pt" >/dev/null; then # a shared one, of classic tag, is policy.pt
	mkdir -p trainer/logs
	cp "$runs/$run"/policy*.pt trainer/
	cp "$runs/$run/metrics.csv" trainer/logs/metrics.csv
	echo "policies are in trainer/, the log of all rounds is trainer/logs/metrics.csv" >&2
fi
exit "$status"
