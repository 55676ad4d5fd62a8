# Runs the steps of a long check one after the other and says at the end how long each took. Sourced by .ci/test and
# .ci/soak, which write what cargo's tests say to $log. The first step that fails ends the run, after the table.

step_names=()
step_seconds=()

# step NAME COMMAND...
step() {
  local name=$1 began=$SECONDS status=0
  shift
  printf '\n━━ %s\n' "$name"
  "$@" || status=$?
  step_names+=("$name")
  step_seconds+=("$((SECONDS - began))")
  [ "$status" = 0 ] || { table "failed: $name"; failed_in "$log"; exit "$status"; }
}

# table VERDICT
table() {
  local index
  printf '\n'
  for index in "${!step_names[@]}"; do
    printf '  %-44s %s\n' "${step_names[$index]}" "$(as_minutes "${step_seconds[$index]}")"
  done
  printf '  %-44s %s\n\n%s\n' "together" "$(as_minutes "$SECONDS")" "$1"
}

as_minutes() { printf '%3d:%02d' "$(($1 / 60))" "$(($1 % 60))"; }

# stories SCRIPT: their output goes into the log too, after that of the Rust tests.
stories() { .ci/e2e "$1" 2>&1 | tee -a "$log"; }

# Why each test and each story of a log failed, in short: last of all, where it is found at once.
failed_in() {
  awk '
    /failing tests:$/ { story = 1 }
    story && !/^ +at / { print substr($0, 1, 300) }
    /^failures:$/ { on = 1 }
    /^test result: / { on = 0 }
    on && /^---- .* stdout ----$/ { left = 0; print ""; print; next }
    on && / panicked at / { left = 8 }
    on && left-- > 0 { print substr($0, 1, 300) }
  ' "$1"
}

# The sum of what the `test result:` lines of a cargo test log say has passed.
passed_in() { awk '/^test result: ok\./ { sum += $4 } END { print sum + 0 }' "$1"; }
