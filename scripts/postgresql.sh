# A PostgreSQL server of a script's own: sourced, not run.

# The folder of PostgreSQL's programs, which Debian has on no path; of several versions the newest.
postgresql_programs() {
    local initdb
    initdb=$(command -v initdb || find /usr/lib/postgresql/*/bin -name initdb 2>/dev/null | sort -V | tail -1)
    # A link to one of them stands alone in its folder.
    [[ -z $initdb ]] || dirname "$(readlink -f "$initdb")"
}

# PostgreSQL refuses to be root: the user comes with Debian's package, and may not be let into this folder.
as_postgresql() (
    cd /
    if [[ $(id -u) == 0 ]]; then runuser -u postgres -- "$@"; else "$@"; fi
)

# Starts a server with nothing in it, in a folder that no one else may enter. `postgresql` is the folder, with the server's
# socket; where it can't be started, `postgresql_error` says why.
#
# A shell holds the other end of a pipe: once neither this script nor what it started has the pipe open any more, however
# they ended, it stops the server and removes the folder.
start_postgresql() {
    local programs=$1 log
    # The names of sockets must be short, and PostgreSQL's user must be able to reach the folder.
    postgresql=$(mktemp -d /tmp/relata-postgresql.XXXXXX) || return
    exec 9> >(
        exec >/dev/null 2>&1
        trap '' INT TERM HUP
        cat >/dev/null
        as_postgresql "$programs/pg_ctl" -D "$postgresql/data" -m immediate stop
        rm -rf "$postgresql"
    )
    postgresql_guard=$!
    if ! log=$(make_postgresql "$programs" 2>&1 9>&-); then
        stop_postgresql
        postgresql_error=${log##*$'\n'}
        return 1
    fi
}

make_postgresql() {
    [[ $(id -u) != 0 ]] || chown postgres "$postgresql" || return
    as_postgresql "$1/initdb" -D "$postgresql/data" -U postgres -A trust -E UTF8 --no-locale --no-sync || return
    # No commit waits for the disk, as none of Relata's does. Times are in UTC.
    as_postgresql "$1/pg_ctl" -D "$postgresql/data" -l "$postgresql/log" -w start \
        -o "-k $postgresql -c listen_addresses= -c timezone=UTC -c synchronous_commit=off" && return
    cat "$postgresql/log"
    return 1
}

# Stops the server that was started, if one was, and waits for its end.
stop_postgresql() {
    [[ -n ${postgresql_guard-} ]] || return 0
    exec 9>&-
    wait "$postgresql_guard" 2>/dev/null || true
    postgresql_guard=
}
