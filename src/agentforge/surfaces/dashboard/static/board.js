// The first page: what waits for somebody, what runs, and what ended last.

import { html, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { useData, useNews, useSoon } from "./api.js";
import { Badge, Card, Progress, Strip, Trouble, Waiting, useNow } from "./parts.js";
import { ago, duration, isOver, isStopped, linkTo, money, percent, plain, since, titleOf } from "./words.js";

const keyOf = (summary) => `${summary.repo_path} ${summary.task_id}`;
const ASKING = new Set(["escalated", "awaiting_decision"]);

function sortInto(tasks) {
  const sections = { attention: [], active: [], recent: [] };
  for (const summary of tasks.values()) {
    const state = summary.status.state;
    sections[ASKING.has(state) ? "attention" : isOver(summary) ? "recent" : "active"].push(summary);
  }
  const newest = (one, two) => (one.timing.last_activity < two.timing.last_activity ? 1 : -1);
  sections.active.sort(newest);
  sections.recent.sort(newest);
  sections.attention.sort((one, two) => (((one.waiting || {}).opened_at || "") > ((two.waiting || {}).opened_at || "") ? 1 : -1));
  sections.recent = sections.recent.slice(0, 12);
  return sections;
}

export function Board({ onLive }) {
  const { data, error, load } = useData("/api/status");
  const [tasks, setTasks] = useState(new Map());
  const [counts, setCounts] = useState({});
  const reload = useSoon(load, 800);
  const now = useNow();
  useEffect(() => {
    if (!data) return;
    setTasks(new Map([...data.attention, ...data.active, ...data.recent].map((each) => [keyOf(each), each])));
    setCounts(data.counts);
  }, [data]);
  const live = useNews(data ? "/ws/updates" : null, data ? data.mark : 0, (said) => {
    if (said.type === "reload") reload();
    else if (said.type === "task_removed") reload();
    else if (said.type === "task_updated") {
      const known = tasks.get(keyOf(said.summary));
      if (!known || known.status.state !== said.summary.status.state) reload();
      setTasks((old) => new Map(old).set(keyOf(said.summary), said.summary));
    }
  });
  useEffect(() => onLive(live), [live]);
  const sections = useMemo(() => sortInto(tasks), [tasks]);
  if (error && !data) return html`<${Trouble} error=${error} />`;
  if (!data) return html`<${Waiting} />`;
  if (!data.total) return html`<${Welcome} />`;
  return html`
    <${Trouble} error=${error} />
    <h1 class="unseen">Board</h1>
    <${Counts} counts=${counts} />
    <div class="board">
      ${sections.attention.length > 0 &&
      html`<section class="lane" aria-labelledby="needs"><h2 id="needs">Needs you <span class="number">${sections.attention.length}</span></h2>
        ${sections.attention.map((each) => html`<${Asking} key=${keyOf(each)} summary=${each} now=${now} />`)}
      </section>`}
      <section class="lane" aria-labelledby="active"><h2 id="active">Active <span class="number">${Math.max(activeIn(counts), sections.active.length)}</span></h2>
        ${sections.active.length
          ? html`<${Active} tasks=${sections.active} total=${activeIn(counts)} now=${now} />`
          : html`<p class="quiet empty">Nothing runs right now. <a href="#/new">Start a task</a>, or leave this open: it shows what begins.</p>`}
      </section>
      <section class="lane" aria-labelledby="recent"><h2 id="recent">Recent</h2>
        ${sections.recent.length
          ? html`<ul class="rows">${sections.recent.map((each) => html`<${Ended} key=${keyOf(each)} summary=${each} now=${now} />`)}</ul>
              <p><a href="#/tasks">All ${data.total} tasks</a></p>`
          : html`<p class="quiet empty">Nothing has ended yet.</p>`}
      </section>
    </div>
  `;
}

const countOf = (counts, ...states) => states.reduce((sum, state) => sum + (counts[state] || 0), 0);
const activeIn = (counts) => countOf(counts, "in_progress", "pending");

const FEW = 10;

// What runs comes before what was left: of many, a screenful or two at first.
function Active({ tasks, total, now }) {
  const [all, setAll] = useState(false);
  const ordered = useMemo(() => [...tasks.filter((each) => !isStopped(each)), ...tasks.filter(isStopped)], [tasks]);
  const shown = all ? ordered : ordered.slice(0, FEW);
  return html`
    ${shown.map((each) => html`<${Running} key=${keyOf(each)} summary=${each} now=${now} />`)}
    ${shown.length < ordered.length && html`<p><button onClick=${() => setAll(true)}>Show ${ordered.length - shown.length} more</button></p>`}
    ${all && total > ordered.length && html`<p><a href="#/tasks">All tasks</a></p>`}
  `;
}

const Counts = ({ counts }) => {
  const number = (...states) => countOf(counts, ...states);
  const tiles = [
    ["Active", activeIn(counts), "go"],
    ["Needs you", number("escalated", "awaiting_decision"), "ask"],
    ["Completed", number("completed"), "good"],
    ["Failed or aborted", number("failed", "aborted"), "bad"],
  ];
  return html`<dl class="tiles">${tiles.map(([name, value, tone]) => html`<div key=${name} class=${value ? tone : "none"}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
};

const Running = ({ summary, now }) => html`
  <article class="card task">
    <header>
      <h3><a href=${linkTo(summary)}>${titleOf(summary)}</a></h3>
      <span class="repo">${plain(summary.repo)}</span>
      <${Badge} summary=${summary} />
    </header>
    <${Strip} plan=${summary.plan} small=${true} />
    <div class="meter"><${Progress} share=${summary.status.overall_progress || 0} label="Progress" /><span>${percent(summary.status.overall_progress)}</span></div>
    <p class="line">
      <span>${duration(since(summary.timing.started_at, now))} elapsed</span>
      <span>${money(summary.cost && summary.cost.estimated_cost_usd)}</span>
      <${Tests} health=${summary.health} />
      ${summary.last_action && html`<span>last: ${plain(summary.last_action.action)}, ${ago(summary.last_action.at, now)}</span>`}
    </p>
    ${summary.waits_for && html`<p class="note">Waiting: ${plain(summary.waits_for.text)}</p>`}
    ${isStopped(summary) && html`<p class="note warn">No process drives it. Open it to continue.</p>`}
  </article>
`;

export const Tests = ({ health }) =>
  health && health.tests_total !== null && health.tests_total !== undefined
    ? html`<span class=${health.tests_passing + before(health) < health.tests_total ? "bad-text" : "good-text"}>tests ${health.tests_passing}/${health.tests_total}</span>${
        before(health) > 0 && html`<span>${before(health)} did not pass before</span>`
      }`
    : html`<span>no tests run yet</span>`;

const before = (health) => health.tests_not_passing_before || 0;

const verb = (summary) => (summary.status.state === "escalated" ? "Answer" : "Decide");

const Asking = ({ summary, now }) => html`
  <article class="card task asks">
    <header>
      <h3><a href=${linkTo(summary)}>${titleOf(summary)}</a></h3>
      <span class="repo">${plain(summary.repo)}</span>
      <${Badge} summary=${summary} />
    </header>
    ${summary.waiting &&
    html`<p class="asked">${plain(summary.waiting.question).replace(/\n{2,}/g, "\n").slice(0, 700)}</p>`}
    <div class="asks-foot">
      <p class="line">${summary.waiting && html`<span>asked ${ago(summary.waiting.opened_at, now)}</span><span>${plain(summary.waiting.kind)}</span>`}</p>
      <a class="button primary" href=${linkTo(summary)} aria-label=${`${verb(summary)}: ${titleOf(summary)}`}>${verb(summary)}</a>
    </div>
  </article>
`;

export const Ended = ({ summary, now }) => html`
  <li>
    <a href=${linkTo(summary)}>
      <span class=${`mark ${summary.status.state}`} aria-hidden="true"></span>
      <span class="title">${titleOf(summary)}</span>
      <span class="repo">${plain(summary.repo)}</span>
      <${Badge} summary=${summary} />
      <span class="when">${ago(summary.timing.ended_at || summary.timing.last_activity, now)}</span>
    </a>
  </li>
`;

const Welcome = () => html`
  <div class="welcome">
    <h1>No tasks yet</h1>
    <p>A task turns a request into a verified branch, or one precise question. Start one here, or type
      <code> agentforge start "…" </code> in any repository: it appears on this page as it goes.</p>
    <p><a class="button primary" href="#/new">Start a task</a></p>
  </div>
`;

const MOST = 500; // what one list of the server holds

export function AllTasks() {
  const [query, setQuery] = useState("");
  const [state, setState] = useState("");
  const [limit, setLimit] = useState(50);
  const words = new URLSearchParams({ limit: String(Math.min(limit, MOST)), query });
  if (state) words.set("state", state);
  const { data, error } = useData(`/api/tasks?${words}`);
  const now = useNow(5000);
  return html`
    <h1>All tasks</h1>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label>Search <input type="search" value=${query} onInput=${(event) => setQuery(event.target.value)} placeholder="words of a request" /></label>
      <label>State
        <select value=${state} onChange=${(event) => setState(event.target.value)}>
          <option value="">any</option>
          ${["in_progress", "pending", "escalated", "awaiting_decision", "completed", "failed", "aborted"].map((each) => html`<option key=${each} value=${each}>${each.replace("_", " ")}</option>`)}
        </select>
      </label>
    </form>
    <${Trouble} error=${error} />
    ${data
      ? html`<p class="quiet" role="status">${data.total} ${data.total === 1 ? "task" : "tasks"}</p>
          ${data.total > 0 && html`<ul class="rows card">${data.tasks.map((each) => html`<${Ended} key=${keyOf(each)} summary=${each} now=${now} />`)}</ul>`}
          ${data.total === 0 && html`<p class="quiet empty">${query || state ? "No task is like that." : "No tasks yet."}</p>`}
          ${data.next !== null &&
          (limit < MOST
            ? html`<button onClick=${() => setLimit(limit + 100)}>Show more</button>`
            : html`<p class="quiet">These are the newest ${MOST}. Search for a word of the request to find older ones.</p>`)}`
      : html`<${Waiting} />`}
  `;
}
