#!/usr/bin/env bash
# Runs a command line by LINUX_PROGRAM, in a copy of this folder, and by EMULATED_PROGRAM in EMULATOR (Wine, QEMU). Prints
# what the second gives. Status 99: what they print or write differs, but for times.
[[ $* != */dev/stdout* ]] || exec "$LINUX_PROGRAM" "$@" # Wine opens it as a file
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a . "$work/folder"
(cd "$work/folder" && exec "$LINUX_PROGRAM" "$@") >"$work/out" 2>"$work/err"
status=$?
"$EMULATOR" "$EMULATED_PROGRAM" "$@" >"$work/emulated_out" 2>"$work/emulated_err"
emulated_status=$?
[[ $1 != tiles ]] || cmp "$work/out" "$work/emulated_out" >>"$work/difference" 2>&1 # a list
# Times and their columns, separators, and the folder of the demo's map.
same='s/[0-9]+\.[0-9]+( ms)?/#/g; s/ +/ /g; s,\\,/,g; s,Z:/,/,g; s,/build/[a-z-]+/,/,g'
for stream in out err; do
    diff <(sed -E "$same" "$work/$stream") <(sed -E "$same" "$work/emulated_$stream") >>"$work/difference"
done
left_out=(-x trace -x cache)
[[ $* != *'--order any'* ]] || left_out+=(-x 'out*') # the test compares what is in it
diff -rq "${left_out[@]}" "$work/folder" . >>"$work/difference"
cat "$work/emulated_out"
cat "$work/emulated_err" >&2
[[ $status != "$emulated_status" || -s $work/difference ]] || exit "$status"
echo "status $status, emulated $emulated_status" >&2
cat "$work/difference" >&2
exit 99
