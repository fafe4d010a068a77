#!/bin/sh
# A hook of Claude Code. It is safe to run twice, and it never stops what Claude Code is doing: its exit code is 0.
event=$1
folder=${CLAUDE_PROJECT_DIR:-$PWD}

# Without a workflow there is nothing to tell, and outside of AO nobody to tell after every tool.
[ -f "$folder/.claude/forge/active-workflow.md" ] || exit 0
if [ "$event" = post-tool-use ]; then
  [ -n "$AO_SESSION" ] && [ -n "$AO_DATA_DIR" ] || exit 0
fi

if command -v agentforge >/dev/null 2>&1; then
  agentforge plugin hook "$event" --workspace "$folder" </dev/null || exit 0
else
  echo "forge: a workflow is open here, but the command agentforge is not on PATH, so its state was not read."
fi
