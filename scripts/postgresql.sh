# A PostgreSQL server for a script: sourced, not run.

# The folder of PostgreSQL's programs, which Debian doesn't put on the PATH; of several versions, the newest.
postgresql_programs() {
    local initdb
    initdb=$(command -v initdb || find /usr/lib/postgresql/*/bin -name initdb 2>/dev/null | sort -V | tail -1)
    # A link to one of them may be the only one in its folder.
    [[ -z $initdb ]] || dirname "$(readlink -f "$initdb")"
}

# PostgreSQL refuses to run as root. Debian's package makes a user for it, who may have no access to this folder.
as_postgresql() (
    cd /
    if [[ $(id -u) == 0 ]]; then runuser -u postgres -- "$@"; else "$@"; fi
)

# Starts an empty server, in a folder that no one else may enter. `postgresql` is the folder, with the server's socket; if
# the server can't be started, `postgresql_error` is the reason.
#
# A shell holds the other end of a pipe. Once this script and its processes have ended, for whatever reason, none of them
# has the pipe open any more: the shell then stops the server and removes the folder.
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
    # Commits don't wait for the disk, and neither do Relata's. Times are in UTC.
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
