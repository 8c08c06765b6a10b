#!/bin/sh
# Installs drawbridge-agent on this host. Run again, it upgrades the agent and keeps its settings.
#
#   curl -fsSL --proto =https https://drawbridge.example.com/downloads/install-agent.sh |
#     sudo sh -s -- --server https://drawbridge.example.com --name db-host-1
#
# Everything is in functions, called by the last line: a download that is cut off runs nothing.
set -eu

USAGE='Usage: install-agent.sh --server https://drawbridge.example.com --name db-host-1 [options]

  --key-file FILE       file with the API key of the host. Without it: DRAWBRIDGE_AGENT_KEY of the environment, the key
                        that is installed already, or a question on the terminal
  --guard PORTS         ports to close while nothing else is known: tcp/22,tcp/5432
  --only PORTS          guard these ports only
  --never PORTS         never guard these ports
  --always-allow CIDRS  addresses that are always let in: 192.0.2.0/24,2001:db8::/32
  --as FORMAT           deb, executable, or bundle, which needs Node.js 22; otherwise the first one possible
  --no-start            install and show what would be guarded, but start nothing

Server and name can be left out when the agent is installed already.'

SETTINGS=/etc/drawbridge-agent
ENVIRONMENT=$SETTINGS/environment
KEY=$SETTINGS/key
UNITS=/etc/systemd/system

server='' name='' key='' key_file='' guard='' only='' never='' always_allow='' format='' start=yes
work='' terminal='' program=''

say() { printf '%s\n' "$*"; }

fail() {
  printf 'install-agent: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

clean_up() {
  [ -z "$terminal" ] || stty "$terminal" </dev/tty
  [ -z "$work" ] || rm -rf "$work"
}

read_options() {
  while [ $# -gt 0 ]; do
    case "$1" in
      --help) say "$USAGE"; exit 0 ;;
      --no-start) start=no; shift; continue ;;
      --key | --key=*) fail 'A key cannot be an argument, every user of the host could read it: use --key-file, or wait for the question' ;;
      --server | --name | --key-file | --guard | --only | --never | --always-allow | --as) ;;
      *) fail "There is no option $1. $USAGE" ;;
    esac
    if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value"; fi
    case "$2" in
      # they become lines of a file
      *[!][A-Za-z0-9.,:/_~@+-]*) [ "$1" = --key-file ] || fail "$1 has a character that is not possible: $2" ;;
    esac
    case "$1" in
      --server) server=$2 ;;
      --name) name=$2 ;;
      --key-file) key_file=$2 ;;
      --guard) guard=$2 ;;
      --only) only=$2 ;;
      --never) never=$2 ;;
      --always-allow) always_allow=$2 ;;
      --as) format=$2 ;;
    esac
    shift 2
  done
  case "$format" in
    '' | deb | executable | bundle) ;;
    *) fail "--as must be deb, executable or bundle, not $format" ;;
  esac
}

check_host() {
  [ "$(uname -s)" = Linux ] || fail "The agent needs Linux, and this is $(uname -s)"
  [ "$(id -u)" = 0 ] || fail 'This must run as root: put sudo before sh'
  { [ -d /run/systemd/system ] && has systemctl; } ||
    fail "systemd does not run here. Use the container image, or start $server/downloads/drawbridge-agent.cjs by other means: docs/agent.md says how"
  has curl || has wget || fail "curl or wget is missing: $(how_to_install curl)"
  has nft || fail "nft is missing: $(how_to_install nftables)"
  case "$(nft --version)" in
    'nftables v0.'*) fail "nftables 1.0 or newer is needed, and this is $(nft --version)" ;;
  esac
}

how_to_install() {
  if has apt-get; then say "apt-get update && apt-get install -y $1"
  elif has dnf; then say "dnf install -y $1"
  else say "install the package $1"; fi
}

# The value of a setting in the installed file; empty: none.
installed() { [ ! -f "$ENVIRONMENT" ] || sed -n "s/^$1=//p" "$ENVIRONMENT" | sed 's/^"\(.*\)"$/\1/' | tail -n 1; }

# Whether a URL has http and an address of this host, and nothing that only looks like one. URL
is_loopback() {
  printf '%s\n' "$1" | grep -Eq '^http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(/|$)'
}

read_settings() {
  [ -n "$server" ] || server=$(installed DRAWBRIDGE_SERVER)
  [ -n "$name" ] || name=$(installed DRAWBRIDGE_AGENT_NAME)
  [ -n "$server" ] || fail 'The server is missing: --server https://drawbridge.example.com'
  [ -n "$name" ] || fail 'The name of this host is missing, the identifier of its resources: --name db-host-1'
  server=${server%/}
  server=${server%/api/v1}
  case "$server" in
    https://?*) ;;
    *) is_loopback "$server" || fail "--server must be https, http would send the key unencrypted: $server" ;;
  esac
}

# The key is never an argument and never printed.
read_key() {
  if [ -n "$key_file" ]; then
    [ -r "$key_file" ] || fail "The key file cannot be read: $key_file"
    key=$(cat "$key_file")
    [ -n "$key" ] || fail "The key file is empty: $key_file"
  elif [ -n "${DRAWBRIDGE_AGENT_KEY:-}" ]; then
    key=$DRAWBRIDGE_AGENT_KEY
  elif [ -s "$KEY" ]; then
    return
  elif (: </dev/tty) 2>/dev/null; then
    terminal=$(stty -g </dev/tty)
    stty -echo </dev/tty
    printf 'API key of %s (scope agent:connect): ' "$name" >/dev/tty
    IFS= read -r key </dev/tty || key=''
    stty "$terminal" </dev/tty
    terminal=''
    printf '\n' >/dev/tty
  fi
  unset DRAWBRIDGE_AGENT_KEY
  [ -n "$key" ] || fail 'The API key is missing: --key-file FILE, or run this in a terminal, which asks for it'
  case "$key" in
    *[!A-Za-z0-9_]*) fail 'This is not an API key: it consists of letters, digits and _ only' ;;
  esac
}

# Downloads a file of the server. FILE
get() {
  # what is installed runs as root: no redirect takes it from https to http
  if has curl; then curl -fsSL --proto "=${server%%:*}" --retry 2 -o "$work/$1" "$server/downloads/$1"
  else wget -q --max-redirect=0 -O "$work/$1" "$server/downloads/$1"; fi || fail "$server/downloads/$1 cannot be downloaded"
}

# The checksum that the server names for a file; empty: the server does not have it. FILE
checksum() { sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$work/SHA256SUMS"; }

# Downloads a file and compares it with its checksum. FILE
get_checked() {
  [ -n "$(checksum "$1")" ] || fail "$server does not have $1. On the server: npm run build:agent-packages"
  get "$1"
  [ "$(sha256sum <"$work/$1" | cut -d ' ' -f 1)" = "$(checksum "$1")" ] ||
    fail "$1 does not have the checksum that $server/downloads/SHA256SUMS names: nothing was installed. Try again; if it stays so, the files of the server are damaged"
}

node_is_usable() {
  has node && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
}

# Chooses the format, and the file of this architecture.
choose() {
  case "$(uname -m)" in
    x86_64 | amd64) node_arch=x64 deb_arch=amd64 ;;
    aarch64 | arm64) node_arch=arm64 deb_arch=arm64 ;;
    *) node_arch='' deb_arch='' ;;
  esac
  deb=$(sed -n "s/^[0-9a-f]\{64\}  \(drawbridge-agent_.*_${deb_arch:-none}\.deb\)\$/\1/p" "$work/SHA256SUMS" | tail -n 1)
  executable=drawbridge-agent-linux-${node_arch:-none}.xz
  if [ -n "$format" ]; then return
  elif [ -n "$deb" ] && has dpkg && [ -s /var/lib/dpkg/status ]; then format=deb
  elif [ -n "$(checksum "$executable")" ] && has xz; then format=executable
  elif node_is_usable; then format=bundle
  elif [ -n "$(checksum "$executable")" ]; then fail "xz is missing: $(how_to_install xz)"
  elif [ -n "$node_arch" ]; then
    fail "$server has no packages of the agent, and without them it needs Node.js 22 or newer here. On the server: npm run build:agent-packages"
  else fail "There is no executable for $(uname -m): install Node.js 22 or newer"; fi
}

install_agent() {
  case "$format" in
    deb)
      [ -n "$deb" ] || fail "$server does not have a package for $(uname -m). On the server: npm run build:agent-packages"
      get_checked "$deb"
      # what is in the settings stays
      DRAWBRIDGE_INSTALLER=1 dpkg --force-confold --install "$work/$deb" </dev/null ||
        fail 'The package was not installed: see above. For missing dependencies: apt-get -f install'
      program=/usr/bin/drawbridge-agent
      if [ -e "$UNITS/drawbridge-agent.service" ]; then
        rm -f "$UNITS/drawbridge-agent.service" "$UNITS/drawbridge-guard.service" /usr/local/bin/drawbridge-agent
        systemctl daemon-reload
        systemctl reenable drawbridge-guard
      fi
      ;;
    executable)
      get_checked "$executable"
      get_units
      has xz || fail "xz is missing: $(how_to_install xz)"
      xz --decompress --stdout "$work/$executable" >"$work/program"
      install_program
      ;;
    bundle)
      node_is_usable || fail 'The bundle needs Node.js 22 or newer on the PATH'
      get_checked drawbridge-agent.cjs
      get_units
      mv "$work/drawbridge-agent.cjs" "$work/program"
      install_program
      ;;
  esac
}

get_units() {
  if has dpkg && dpkg -s drawbridge-agent >/dev/null 2>&1; then
    fail 'The package drawbridge-agent is installed: leave --as out to upgrade it, or remove it first'
  fi
  get_checked drawbridge-agent.service
  get_checked drawbridge-guard.service
}

# Installs the downloaded program and its units, once the program has been seen to run here.
install_program() {
  program=/usr/local/bin/drawbridge-agent
  mkdir -p /usr/local/bin
  cp "$work/program" "$program.new"
  chmod 755 "$program.new"
  if ! "$program.new" --version >/dev/null; then
    rm -f "$program.new"
    fail 'The agent does not run on this host: see above. An executable needs glibc 2.28 and libstdc++'
  fi
  mv "$program.new" "$program"
  for unit in drawbridge-agent.service drawbridge-guard.service; do
    cp "$work/$unit" "$UNITS/$unit"
    chmod 644 "$UNITS/$unit"
  done
  systemctl daemon-reload
}

# Writes one setting, and leaves the others. NAME VALUE; without a value nothing changes
set_value() {
  [ -n "$2" ] || return 0
  if grep -q "^$1=" "$ENVIRONMENT"; then
    sed "s|^$1=.*|$1=$2|" "$ENVIRONMENT" >"$work/environment"
  else
    { cat "$ENVIRONMENT" && printf '%s=%s\n' "$1" "$2"; } >"$work/environment"
  fi
  # the file stays the same one, with its owner and mode
  cat "$work/environment" >"$ENVIRONMENT"
}

configure() {
  mkdir -p "$SETTINGS"
  if [ ! -e "$ENVIRONMENT" ]; then
    : >"$ENVIRONMENT"
    chmod 644 "$ENVIRONMENT"
  fi
  set_value DRAWBRIDGE_SERVER "$server"
  set_value DRAWBRIDGE_AGENT_NAME "$name"
  set_value DRAWBRIDGE_GUARD "$guard"
  set_value DRAWBRIDGE_ONLY "$only"
  set_value DRAWBRIDGE_NEVER "$never"
  set_value DRAWBRIDGE_ALWAYS_ALLOW "$always_allow"
  if [ -n "$key" ]; then
    (umask 077 && printf '%s\n' "$key" >"$KEY.new")
    mv "$KEY.new" "$KEY"
  fi
}

preview() {
  if ! "$program" --dry-run --server "$server" --name "$name" --key-file "$KEY" >"$work/ruleset" 2>&1; then
    cat "$work/ruleset" >&2
    if grep -q 'refuses the key' "$work/ruleset"; then
      rm -f "$KEY"
      fail 'The agent is installed, but the server refuses the API key, so nothing was started and the key was deleted. Run this again with another key'
    fi
    fail 'The agent is installed, but the dry run failed, so nothing was started. Correct what it says and run this again'
  fi
  printf '\nThe ruleset for the current state of the server:\n\n'
  head -n 60 "$work/ruleset"
  [ "$(wc -l <"$work/ruleset")" -le 60 ] || say '[...]'
  guard=$(installed DRAWBRIDGE_GUARD)
  if [ -n "$guard" ] && [ "$start" = yes ] && grep -q 'without a question' "$work/ruleset"; then
    keep_from_boot
    fail 'The agent is installed, but nothing was started: --guard closes its ports without a question, and that would cut the connections above. Run this again with --always-allow and their addresses, or end them'
  fi
}

# The package enables the guard, which would close the ports of DRAWBRIDGE_GUARD at the next boot, without an agent.
keep_from_boot() {
  systemctl is-enabled --quiet drawbridge-agent || systemctl disable drawbridge-guard
}

start_agent() {
  systemctl reenable drawbridge-guard drawbridge-agent
  systemctl start drawbridge-guard || fail 'The guard was not loaded. Its log: journalctl -u drawbridge-guard'
  # also on an upgrade: the guard is in the kernel and stays meanwhile
  systemctl restart drawbridge-agent || fail 'The agent does not run. Its log: journalctl -u drawbridge-agent'
}

next_steps() {
  say ''
  if [ "$start" = yes ]; then say "Installed and started: $("$program" --version), as $name"
  else say "Installed, not started. To start it: systemctl enable --now drawbridge-guard drawbridge-agent"; fi
  say "  log       journalctl -u drawbridge-agent
  state     drawbridge-agent --status
  settings  $ENVIRONMENT, then: systemctl restart drawbridge-agent
  upgrade   this command again
  undo      systemctl disable --now drawbridge-agent drawbridge-guard && drawbridge-agent --remove"
  if [ "$format" = deb ]; then say '            apt-get purge drawbridge-agent'
  else say "            rm -r $program $SETTINGS $UNITS/drawbridge-agent.service $UNITS/drawbridge-guard.service"; fi
}

main() {
  read_options "$@"
  check_host
  read_settings
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM
  read_key
  work=$(mktemp -d)
  get SHA256SUMS
  choose
  install_agent
  configure
  preview
  if [ "$start" = yes ]; then start_agent; elif [ -n "$guard" ]; then keep_from_boot; fi
  next_steps
}

main "$@"
