# The store: one note a line in $JOT_FILE.
JOT_FILE=${JOT_FILE:-jot.txt}

# store_add TEXT: appends a note.
store_add() {
    printf '%s\n' "$1" >>"$JOT_FILE"
}

# store_list: prints all notes, numbered.
store_list() {
    [ -f "$JOT_FILE" ] || return 0
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        printf '%d  %s\n' "$n" "$line"
    done <"$JOT_FILE"
}
