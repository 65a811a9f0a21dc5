# For the scripts under tests/, to be sourced: finds or installs programs, starts and stops a memcached.
# shellcheck shell=bash

fail() {
    printf '\n%s: %s\n' "$0" "$*" >&2
    exit 1
}

# Installs a package, or several in one word, with the system's package manager when that asks for no password; else says what to type.
install_package() {
    local package=$1 manager command
    for manager in apt-get dnf apk brew ''; do
        ! command -v "$manager" >/dev/null || break
    done
    case $manager in
        apt-get) command="env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends $package" ;;
        dnf) command="dnf install -y $package" ;;
        apk) command="apk add $package" ;;
        brew) command="brew install $package" ;;
        *) fail "there is no $package, and no apt-get, dnf, apk or brew to install it with" ;;
    esac
    # Debian's package starts a server of its own, which no test wants, unless the run level is said to be 1.
    local shown=${command#env * RUNLEVEL=1 } as=''
    if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || fail "there is no $package; type: sudo $shown"
        as=sudo
    fi
    echo "there is no $package, installing it: ${as:+$as }$shown"
    # shellcheck disable=SC2086 # these are to be split into words
    {
        [ "$manager" != apt-get ] || ${as:+sudo -n} apt-get update -qq || echo "the lists of packages are not renewed"
        ${as:+sudo -n} $command >/dev/null || fail "$package was not installed; type: ${as:+$as }$shown"
    }
}

# Sets MCPOOL_MEMCACHED to the one it names already, or to the one installed, which is done first where there is none.
need_memcached() {
    if [ -n "${MCPOOL_MEMCACHED:-}" ]; then
        [ -x "$MCPOOL_MEMCACHED" ] || fail "MCPOOL_MEMCACHED=$MCPOOL_MEMCACHED is not a program"
        # The scripts and the tests change directory.
        MCPOOL_MEMCACHED=$(cd "$(dirname "$MCPOOL_MEMCACHED")" && pwd)/$(basename "$MCPOOL_MEMCACHED")
    else
        local PATH="$PATH:/usr/bin:/usr/sbin:/usr/local/bin:/opt/homebrew/bin"
        command -v memcached >/dev/null || install_package memcached
        MCPOOL_MEMCACHED=$(command -v memcached) || fail "memcached is installed and not found; set MCPOOL_MEMCACHED"
    fi
    export MCPOOL_MEMCACHED
}

server='' ports='' port=''

# Starts a memcached on a free port of 127.0.0.1 and sets `port`.
start_memcached() {
    local user=()
    [ "$(id -u)" != 0 ] || user=(-u root)
    ports=$(mktemp)
    # It picks the port itself and writes it to this file.
    MEMCACHED_PORT_FILENAME=$ports "$MCPOOL_MEMCACHED" -l 127.0.0.1 -p -1 -U 0 ${user[@]+"${user[@]}"} &
    server=$!
    for _ in $(seq 400); do
        port=$(sed -n 's/^TCP INET: //p' "$ports")
        [ -z "$port" ] || return 0
        kill -0 "$server" 2>/dev/null || fail "memcached ended by itself"
        sleep 0.05
    done
    fail "memcached did not tell its port"
}

# Stops the one that was started, if any; for the trap on EXIT.
stop_memcached() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    rm -f "$ports"
    server=''
}
