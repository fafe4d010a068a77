// One task: how far it is, what blocks it, what it changed, what it did, and what it cost.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { post, save, taskPath, useData, useNews, useSoon } from "./api.js";
import { Tests } from "./board.js";
import { Diff } from "./diff.js";
import { Badge, Card, Command, Confirm, Facts, Progress, Strip, Trouble, Waiting, useAction, useNow } from "./parts.js";
import { Questions } from "./question.js";
import { ago, clock, duration, isOver, isStopped, linkTo, moment, money, number, percent, phaseWord, plain, since, titleOf, wentWrong } from "./words.js";

export function useTask(task, onLive) {
  const found = useData(taskPath(task));
  const [fresh, setFresh] = useState(0);
  const reload = useSoon(() => {
    found.load();
    setFresh((old) => old + 1);
  }, 400);
  const path = found.data ? `/ws/tasks/${encodeURIComponent(task.id)}${task.repo ? `?repo=${encodeURIComponent(task.repo)}` : ""}` : null;
  const live = useNews(path, found.data ? found.data.offset : 0, (said) => {
    if (said.type !== "task_updated" || !found.data || said.offset !== found.data.offset || said.summary.stopped !== found.data.stopped) reload();
  });
  useEffect(() => onLive(live), [live]);
  return { ...found, fresh, reload };
}

const LONG = 260;

// The request. A long one begins here, and is read whole by whoever asks for it.
function Title({ text }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= LONG) return html`<h1>${text}</h1>`;
  return html`<h1 class="long">${whole ? text : `${text.slice(0, LONG).trimEnd()}…`}</h1>
    <button class="link" aria-expanded=${whole} onClick=${() => setWhole(!whole)}>${whole ? "Show less" : "Show the whole request"}</button>`;
}

export const TaskHead = ({ data, task, now, children }) => html`
  <nav class="crumbs" aria-label="Where you are"><a href="#/">Board</a> <span aria-hidden="true">›</span> ${children || html`<span aria-current="page">${plain(data.repo)}</span>`}</nav>
  <div class="task-head">
    <${Title} text=${titleOf(data)} />
    <div class="task-meta">
      <${Badge} summary=${data} />
      <span class="repo">${plain(data.repo)}</span>
      <span class="quiet">${plain(data.pipeline.template)}${data.pipeline.lane ? `, lane ${plain(data.pipeline.lane)}` : ""}</span>
      <span class="quiet">started ${moment(data.timing.started_at)}</span>
      <span class="quiet">${duration(data.timing.ended_at ? (Date.parse(data.timing.ended_at) - Date.parse(data.timing.started_at)) / 1000 : since(data.timing.started_at, now))} elapsed</span>
    </div>
  </div>
`;

export function Task({ task, onLive }) {
  const { data, error, fresh, load } = useTask(task, onLive);
  const now = useNow();
  if (error && !data) return html`<${Trouble} error=${error}><a href="#/">Back to the board</a><//>`;
  if (!data) return html`<${Waiting} />`;
  if (data.problem) return html`<${TaskHead} data=${data} task=${task} now=${now} /><p>${plain(data.problem)}</p>`;
  const running = data.status.phase;
  return html`
    <${TaskHead} data=${data} task=${task} now=${now} />
    <${Trouble} error=${error} />
    <${Stopped} data=${data} task=${task} onDone=${load} />
    <${Questions} task=${task} summary=${data} now=${now} onDone=${load} />
    <${Card} kind="wide">
      <${Strip} plan=${data.plan} steps=${data.steps.by_phase} here=${running} over=${isOver(data)} link=${(stage) => linkTo(data, `/phase/${encodeURIComponent(stage)}`)} />
      <div class="meter"><${Progress} share=${data.status.overall_progress || 0} label="Progress" /><span>${percent(data.status.overall_progress)}</span></div>
      <${Rounds} data=${data} />
      <p class="line">
        <${Tests} health=${data.health} />
        <span>${money(data.cost.estimated_cost_usd)}</span>
        ${data.timing.estimated_remaining_seconds !== null && html`<span>about ${duration(data.timing.estimated_remaining_seconds)} left</span>`}
        ${data.current_action && !data.waiting && !isStopped(data) && html`<span>now: ${plain(data.current_action.action)} ${plain(data.current_action.target || "")}, ${ago(data.current_action.started_at, now)}</span>`}
        ${data.waits_for && html`<span>waiting: ${plain(data.waits_for.text)}</span>`}
      </p>
    <//>
    <div class="columns">
      <div>
        <${PhaseCard} task=${task} data=${data} phase=${running || lastPhase(data)} fresh=${fresh} />
        <${Changes} task=${task} data=${data} fresh=${fresh} />
        <${Timeline} task=${task} data=${data} fresh=${fresh} />
      </div>
      <div>
        <${Result} data=${data} />
        <${Cost} data=${data} />
        <${Deeds} task=${task} data=${data} onDone=${load} />
      </div>
    </div>
  `;
}

const lastPhase = (data) => {
  const names = Object.keys(data.steps.by_phase);
  return names.length ? names[names.length - 1] : null;
};

function Stopped({ data, task, onDone }) {
  const action = useAction();
  if (!isStopped(data)) return null;
  return html`<div class="trouble warn" role="status">
    <strong>No process drives this task.</strong> ${plain(data.driver_said || "It was stopped, or its machine went down; nothing that was recorded is lost.")}
    <button disabled=${action.busy} onClick=${() => action.run(() => post(taskPath(task, "/continue"))).then(onDone)}>Continue</button>
    <${Trouble} error=${action.error} />
  </div>`;
}

const Rounds = ({ data }) => {
  const rounds = data.iteration_summary;
  if (!rounds) return null;
  return html`<p class="line"><span class="badge calm">iterating ${phaseWord(rounds.stage)}: round ${rounds.current} of ${rounds.max}</span>
    ${rounds.decisions.map((each) => html`<span key=${each.iteration}>round ${each.iteration}: ${plain(each.decision)}${each.at ? `, ${moment(each.at)}` : ""}</span>`)}</p>`;
};

const STATUS = { passed: ["✓", "good-text", "passed"], failing: ["✗", "bad-text", "failing"], pending: ["·", "quiet", "pending"], not_run: ["–", "quiet", "not run"] };

export const Criteria = ({ rows }) =>
  rows.length
    ? html`<ul class="criteria">
        ${rows.map((row) => {
          const [mark, tone, word] = STATUS[row.status] || STATUS.pending;
          return html`<li key=${row.name}>
            <span class=${tone} aria-hidden="true">${mark}</span> ${phaseWord(row.name)} <span class="quiet">${word}${row.details ? `: ${plain(row.details)}` : ""}</span>${row.blocking && html` <span class="badge bad">blocks</span>`}
            ${row.failures && html`<ul class="failures">${row.failures.slice(0, 20).map((each, at) => html`<li key=${at}>${each.test && html`<strong>${plain(each.test)}</strong>`} <span>${plain(each.error)}</span></li>`)}</ul>`}
          </li>`;
        })}
      </ul>`
    : html`<p class="quiet">Nothing has to be met here.</p>`;

function PhaseCard({ task, data, phase, fresh }) {
  const { data: detail, load } = useData(taskPath(task, phase ? `/phases/${encodeURIComponent(phase)}` : ""));
  useEffect(() => {
    if (fresh) load();
  }, [fresh]);
  if (!phase || !detail || !detail.exit_criteria) return null;
  return html`
    <${Card} id="phase" title=${html`Phase: ${phaseWord(phase)}`} aside=${html`<a href=${linkTo(data, `/phase/${encodeURIComponent(phase)}`)}>details</a>`}>
      ${detail.objective && html`<p class="quiet">${plain(detail.objective)}</p>`}
      <h3>Exit criteria</h3>
      <${Criteria} rows=${detail.exit_criteria} />
    <//>
  `;
}

function Changes({ task, data, fresh }) {
  const { data: found, error, load } = useData(taskPath(task, "/diff"));
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (fresh) load();
  }, [fresh]);
  const files = found ? found.files : [];
  const many = files.length;
  return html`
    <${Card} id="changes" title=${html`Files changed <span class="number">${many}</span>`} aside=${many > 0 && html`<button class="link" onClick=${() => setOpen(!open)}>${open ? "close all" : "open"}</button>`}>
      <${Trouble} error=${error} />
      ${many ? html`<${Diff} key=${open} patch=${found.diff} open=${open} />` : html`<p class="quiet">No file has changed yet.</p>`}
    <//>
  `;
}

function Timeline({ task, data, fresh }) {
  const [limit, setLimit] = useState(15);
  const separator = task.repo ? "&" : "?";
  const { data: found, error, load } = useData(`${taskPath(task, "/steps")}${separator}limit=${Math.min(limit, 200)}`);
  useEffect(() => {
    if (fresh) load();
  }, [fresh]);
  return html`
    <${Card} id="timeline" title=${html`Steps <span class="number">${found ? found.total : ""}</span>`}>
      <${Trouble} error=${error} />
      ${found && found.steps.length === 0 && html`<p class="quiet">No step yet.</p>`}
      <ol class="timeline">
        ${found && found.steps.map((step) => html`<${StepLine} key=${step.step} step=${step} data=${data} />`)}
      </ol>
      ${found && found.more && limit < 200 && html`<button onClick=${() => setLimit(limit + 40)}>Load more</button>`}
    <//>
  `;
}

export const isGood = (step) => step.outcome !== "open" && !step.mistake && !wentWrong(step.outcome) && step.actions.every((each) => each.ok);

const OUTCOMES = { open: "under way", blocked_on_human: "waits for you", interrupted: "ended without a reply" };
export const outcomeWord = (outcome) => OUTCOMES[outcome] || plain(outcome).replace(/_/g, " ");

export const StepLine = ({ step, data }) => {
  const waits = step.outcome === "blocked_on_human" || (step.outcome === "open" && Boolean(data.waiting));
  const what = step.actions.map((each) => `${each.name} ${each.target}`.trim()).join(", ") || (step.reply ? "reply" : step.outcome === "open" && !waits ? "working" : "no reply");
  const tone = waits ? "ask" : step.outcome === "open" ? "go" : isGood(step) ? "good" : "bad";
  const told = step.mistake || step.summary || (step.check ? step.check.summary : "") || outcomeWord(waits ? "blocked_on_human" : step.outcome);
  return html`
    <li>
      <a href=${linkTo(data, `/step/${step.step}`)}>
        <span class=${`mark ${tone}`} aria-hidden="true"></span>
        <span class="step-number">#${step.step}</span>
        <span class="what">${plain(what)}</span>
        <span class="when">${clock(step.started_at)}</span>
        <span class="told">${phaseWord(step.stage)}${step.seat ? `, read by ${plain(step.seat)}` : ""}: ${plain(told).slice(0, 240)}</span>
        <span class="unseen">${tone === "good" ? "went well" : tone === "go" ? "under way" : tone === "ask" ? "waits for a person" : "did not go well"}</span>
      </a>
    </li>
  `;
};

const Result = ({ data }) => {
  if (data.status.state !== "completed" && !data.failure) return null;
  const delivered = data.delivered;
  return html`
    <${Card} id="result" title="Result" kind=${data.failure ? "bad-card" : "good-card"}>
      ${data.failure && html`<p>${plain(typeof data.failure === "string" ? data.failure : JSON.stringify(data.failure))}</p>`}
      ${delivered && html`<${Facts} rows=${[
        delivered.branch && ["Branch", html`<code>${plain(delivered.branch)}</code>`, true],
        delivered.commit && ["Commit", html`<code>${plain(delivered.commit).slice(0, 12)}</code>`],
      ]} />
      <p><a class="button" href=${linkTo(data, "/evidence")}>What is proved</a></p>`}
    <//>
  `;
};

const Cost = ({ data }) => {
  const steps = data.steps.total || 0;
  return html`
    <${Card} id="cost" title="Cost">
      <${Facts} rows=${[
        ["Estimated cost", money(data.cost.estimated_cost_usd)],
        ["Tokens", number(data.cost.tokens_used)],
        ["Steps", number(steps)],
        ["Tokens per step", steps ? number(Math.round(data.cost.tokens_used / steps)) : "–"],
        ["Recent errors", number(data.health.errors_recent)],
      ]} />
    <//>
  `;
};

function Deeds({ task, data, onDone }) {
  const action = useAction();
  const [reason, setReason] = useState("");
  const over = isOver(data);
  const can = data.continuation && data.continuation.can_extend && data.status.state === "completed";
  const audit = (kind, label) => {
    const path = `${taskPath(task, "/audit")}${task.repo ? "&" : "?"}kind=${kind}`;
    return html`<button disabled=${action.busy} onClick=${() => action.run(() => save(path, `audit-${data.task_id}.${kind}`))}>${label}</button>`;
  };
  return html`
    <${Card} id="deeds" title="Record and actions">
      <p class="buttons">Audit: ${audit("html", "HTML")}${audit("md", "Markdown")}${audit("json", "JSON")}</p>
      <p class="quiet">In a terminal, in <code>${plain(data.repo_path)}</code>:</p>
      <ul class="commands">
        <li><${Command} text=${`agentforge status ${data.task_id} --detail`} /></li>
        ${data.status.state === "completed" && data.delivered && html`<li><${Command} text=${`agentforge merge ${data.task_id}`} /></li>`}
        <li><${Command} text=${`agentforge replay ${data.task_id}`} /></li>
      </ul>
      <p class="quiet">There is no graph of a plan: plans of several tasks are not made yet.</p>
      <div class="buttons">
        ${can && html`<button disabled=${action.busy} onClick=${() => action.run(() => post(taskPath(task, "/extend"))).then((done) => done && onDone())}>Extend to ${phaseWord(data.continuation.extends_to[data.continuation.extends_to.length - 1])}</button>`}
        ${(data.status.state === "failed" || data.status.state === "aborted") && html`<button disabled=${action.busy} onClick=${() => action.run(() => post(taskPath(task, "/continue"))).then(onDone)}>Continue</button>`}
        ${!over &&
        html`<${Confirm} label="Abort task" tone="danger" question="End it and keep its work?" yes="Abort" busy=${action.busy} onYes=${() => action.run(() => post(taskPath(task, "/abort"), { reason })).then(onDone)}>
          <input aria-label="Reason, for the record" placeholder="Reason (for the record)" value=${reason} onInput=${(event) => setReason(event.target.value)} />
        <//>`}
      </div>
      <${Trouble} error=${action.error} />
      ${action.notes.map((note) => html`<p class="quiet">${plain(note)}</p>`)}
    <//>
  `;
}
