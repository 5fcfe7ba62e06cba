# Notes come back in order, numbered.
sh "$JOT" add "buy milk"
sh "$JOT" add "call home"
out=$(sh "$JOT" list)
expected='1  buy milk
2  call home'
[ "$out" = "$expected" ] || { echo "got: $out"; exit 1; }
