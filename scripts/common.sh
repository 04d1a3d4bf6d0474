# Functions that the scripts share: sourced, not run. Leaves the shell in the project's folder.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# The command-line tool, the server and PostgreSQL are behind traits: an app that imports the library needs none of them.
traits=(--traits CommandLineTool,Server,PostgreSQL)
# Without `dwarf`, which names lines in the stacks of threads, a build takes a seventh less time.
[[ -z ${RELATA_DEBUG_INFO-} ]] || traits+=(-debug-info-format "$RELATA_DEBUG_INFO")

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): $*"
    exit 1
}

# Installs the packages that a fresh Debian or Ubuntu lacks besides Swift, and those given as arguments.
install_needs() {
    command -v swift >/dev/null || fail "Swift is missing: install it from https://www.swift.org/install and put it on the PATH"
    local packages=("$@")
    if [[ $(uname) != Linux ]]; then
        ((${#packages[@]} == 0)) || fail "needs ${packages[*]}: install what your system calls them"
        return 0
    fi
    command -v git >/dev/null || packages+=(git)
    [[ -e /usr/include/sqlite3.h ]] || packages+=(libsqlite3-dev)
    [[ -e /usr/include/zlib.h ]] || packages+=(zlib1g-dev)
    [[ -e /usr/include/postgresql/libpq-fe.h || -e /usr/include/libpq-fe.h ]] || packages+=(libpq-dev)
    ((${#packages[@]})) || return 0
    local install="apt-get install -y ${packages[*]}"
    command -v apt-get >/dev/null || fail "needs ${packages[*]}: install what your system calls them"
    local as_root=()
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; } \
            || fail "needs ${packages[*]}: run as root: apt-get update && $install"
        as_root=(sudo)
    fi
    say "installing ${packages[*]} …"
    local log
    log=$(mktemp)
    {
        "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install
    } >"$log" 2>&1 || { cat "$log" >&2; fail "that failed: run as root: apt-get update && $install"; }
    rm -f "$log"
}

# Runs a build. A terminal shows the compiler's own progress; elsewhere, a line appears now and then. Errors are shown in full.
build() {
    local title=$1
    shift
    if [[ -t 2 ]]; then
        "$@" >&2
        return
    fi
    local log status=0
    log=$(mktemp)
    say "$title …"
    "$@" 2>&1 | tee "$log" | awk '
        /^(Fetching|Building)/ { print "  " $0; fflush() }
        /^\[[0-9]+\/[0-9]+\]/ {
            split(substr($1, 2), part, "[/\\]]")
            if (part[1] + 0 < done || part[1] + 0 >= next_line) {
                print "  " part[1] " of " part[2]; fflush()
                next_line = part[1] + 25
            }
            done = part[1]
        }' >&2 || status=${PIPESTATUS[0]}
    if ((status)); then
        # The compiler repeats an error for every file of its batch.
        grep -vE '^\[' "$log" | grep -E -A 6 'error:' | awk '/^--$/ || !seen[$0]++' | head -200 >&2 \
            || tail -50 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}
