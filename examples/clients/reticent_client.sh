#!/usr/bin/env bash
# Ask Reticent's daemon what a request may carry: bash, curl and sed, this file is all you need.
#
#     curl -H "$(examples/clients/reticent_client.sh "version control" forge.example [ATTRIBUTE...])" URL
#
# With - in place of the query it is read from the standard input: every user of the machine can read
# the arguments of a running command. In a script nobody can either:
#
#     . examples/clients/reticent_client.sh
#     answer=$(decide "version control" forge.example)    # {"code":"answered","attributes":{…},…}
#     header=$(header_of <<<"$answer")
#
# Nothing here fails or takes longer than $reticent_limit seconds: whatever goes wrong attaches
# nothing. Nothing is asked twice, and an answer that came too late stands in the ledger as told.

# Print where the daemon listens, on Linux, as the environment says.
socket_path() {
  local home=${RETICENT_HOME:-} runtime=${XDG_RUNTIME_DIR:-} state=${XDG_STATE_HOME:-}
  if [[ -n $home ]]; then
    [[ $home == /* ]] || home=$PWD/$home
    printf '%s\n' "$home/run/query.sock"
  elif [[ $runtime == /* ]]; then
    printf '%s\n' "$runtime/reticent/query.sock"
  else
    [[ $state == /* ]] || state=$HOME/.local/state
    printf '%s\n' "$state/reticent/run/query.sock"
  fi
}

# decide QUERY RECIPIENT [ATTRIBUTE...]: print the answer as JSON, {} where there is none, and say
# on the standard error why nothing is attached. With attributes, no others are candidates.
decide() {
  local LC_ALL=C asked=null query recipient answer
  query=$(_quoted "$1") recipient=$(_quoted "$2")
  if [[ $# -gt 2 ]]; then asked=[$(_listed "${@:3}")]; fi
  answer=$(_call decide "{\"query\":$query,\"recipient\":$recipient,\"asked\":$asked}") || answer=
  if [[ $answer =~ $_SHAPE ]]; then
    [[ ${BASH_REMATCH[1]} == answered ]] || printf 'reticent: %s\n' "${BASH_REMATCH[1]}" >&2
    printf '%s\n' "$answer"
  else
    [[ -z $answer ]] || _broken
    printf '{}\n'
  fi
}

# offer RECIPIENT ATTRIBUTE...: queue what a recipient says it can use, for the user's consent.
offer() {
  local LC_ALL=C recipient
  recipient=$(_quoted "$1")
  _call offer "{\"recipient\":$recipient,\"names\":[$(_listed "${@:2}")]}" >/dev/null
}

# Print the value of Shared-Attributes in an answer on the standard input, or nothing.
header_of() {
  local LC_ALL=C answer
  read -r answer || [[ -n $answer ]] || return 0
  if [[ $answer =~ $_SHAPE ]]; then sed -E 's/\\(["\\])/\1/g' <<<"${BASH_REMATCH[12]}"; fi
}

# What an answer begins with, where all of it is as it should be; the header is printable ASCII.
_TEXT='"([^"\\]|\\.)*"'
_SHAPE='^\{"code":"([a-z ]+)"'
_SHAPE+=",\"attributes\":\\{($_TEXT:$_TEXT(,$_TEXT:$_TEXT)*)?\\},\"unspecified\":\\[($_TEXT(,$_TEXT)*)?\\]"
_SHAPE+=',"header":"(([] !#-[^-~]|\\["\\])*)".*\}$'

# Print what the daemon answers to a call; fail, with a sentence, where it answers anything else.
_call() {
  local status=0 answer
  answer=$(curl -q --silent --noproxy '*' --unix-socket "$(socket_path)" \
    --max-time "${reticent_limit:-2}" --max-filesize 1048576 --write-out '%{http_code}' \
    --header 'Content-Type: application/json' --data-binary @- \
    "http://localhost/v1/$1" <<<"$2") || status=$?
  case $status:$answer in
    0:?*200) printf '%s' "${answer%200}" && return ;;
    0:*) printf 'reticent: the daemon refused\n' >&2 ;;
    7:*) printf 'reticent: no daemon runs; start it with `reticent daemon`\n' >&2 ;;
    *) _broken ;;
  esac
  return 1
}

_broken() {
  printf 'reticent: the daemon did not answer in time, or not as it should\n' >&2
}

# Print a text as a string of JSON; control characters become spaces.
_quoted() {
  local LC_ALL=C backslash='\' quote='"' text
  text=${1//"$backslash"/"$backslash$backslash"}
  text=${text//"$quote"/"$backslash$quote"}
  printf '"%s"' "${text//[[:cntrl:]]/ }"
}

_listed() {
  local each separator=
  for each; do
    printf '%s%s' "$separator" "$(_quoted "$each")"
    separator=,
  done
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if [[ $# -lt 2 ]]; then
    printf 'reticent: expected QUERY HOST [ATTRIBUTE...]; - reads the query from standard input\n' >&2
    exit 2
  fi
  if [[ $1 == - ]]; then set -- "$(cat)" "${@:2}"; fi
  header=$(decide "$@" | header_of)
  if [[ -n $header ]]; then printf 'Shared-Attributes: %s\n' "$header"; fi
fi
