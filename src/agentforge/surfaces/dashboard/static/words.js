// How values are spelled. Everything from a model or a repository goes through `plain`.

// Characters that turn text around or hide it are shown by their number: what is read is what is there.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export const plain = (text) =>
  String(text ?? "").replace(HIDDEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d`;
}

export const since = (stamp, now) => (stamp ? (now - Date.parse(stamp)) / 1000 : 0);
export const ago = (stamp, now) => (stamp ? `${duration(since(stamp, now))} ago` : "");
export const moment = (stamp) =>
  stamp ? new Date(stamp).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
export const clock = (stamp) => (stamp ? new Date(stamp).toLocaleTimeString() : "");
export const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const percent = (share) => `${Math.round((share || 0) * 100)}%`;

export function money(usd) {
  if (usd === null || usd === undefined) return "price unknown";
  return usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export const STATES = {
  pending: "Not started",
  in_progress: "In progress",
  escalated: "Needs your answer",
  awaiting_decision: "Awaiting your decision",
  completed: "Completed",
  failed: "Failed",
  aborted: "Aborted",
};

// A process that was just asked for needs a moment to begin: until then nobody has stopped.
const MOMENT_MS = 6000;
export const isStopped = (summary) =>
  Boolean(summary.stopped) && Date.now() - Date.parse(summary.timing.last_activity || 0) > MOMENT_MS;

export const stateWord = (summary) =>
  isStopped(summary) ? "Stopped" : STATES[summary.status.state] || summary.status.state;

export const stateTone = (summary) =>
  isStopped(summary)
    ? "warn"
    : { in_progress: "go", pending: "calm", completed: "good", failed: "bad", aborted: "calm" }[summary.status.state] || "ask";

const OVER = new Set(["completed", "failed", "aborted"]);
export const isOver = (summary) => OVER.has(summary.status.state);

// What ended a step badly; every other end is an ordinary one.
export const wentWrong = (outcome) => /^(gate_|reverted|failed|interrupted|nothing_locked)/.test(outcome);

export const phaseWord = (name) => plain(name).replace(/_/g, " ");
export const titleOf = (summary) => plain(summary.request || summary.problem || summary.task_id);
export const linkTo = (summary, rest = "") =>
  `#/task/${encodeURIComponent(summary.task_id)}${rest}?repo=${encodeURIComponent(summary.repo_path)}`;
