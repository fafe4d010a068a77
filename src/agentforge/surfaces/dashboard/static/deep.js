// Deeper: one phase, one step, and the evidence.

import { html, useEffect } from "./vendor/htm-preact.js";
import { taskPath, useData } from "./api.js";
import { Diff } from "./diff.js";
import { Card, Command, Facts, Strip, Text, Trouble, Waiting, useNow } from "./parts.js";
import { Criteria, TaskHead, outcomeWord, useTask } from "./task.js";
import { clock, duration, isOver, linkTo, moment, number, percent, phaseWord, plain, wentWrong } from "./words.js";

const Crumbs = ({ data, here }) => html`<a href=${linkTo(data)}>${plain(data.repo)}: task</a> <span aria-hidden="true">›</span> <span aria-current="page">${here}</span>`;

export function Phase({ task, phase, onLive }) {
  const { data, error, fresh } = useTask(task, onLive);
  const { data: detail, error: wrong, load } = useData(taskPath(task, `/phases/${encodeURIComponent(phase)}`));
  const now = useNow(5000);
  useEffect(() => {
    if (fresh) load();
  }, [fresh]);
  if (!data || !detail) return error || wrong ? html`<${Trouble} error=${error || wrong}><a href="#/">Back to the board</a><//>` : html`<${Waiting} />`;
  return html`
    <${TaskHead} data=${data} task=${task} now=${now}><${Crumbs} data=${data} here=${phaseWord(phase)} /><//>
    <${Card} kind="wide"><${Strip} plan=${data.plan} steps=${data.steps.by_phase} here=${phase} over=${isOver(data)} link=${(stage) => linkTo(data, `/phase/${encodeURIComponent(stage)}`)} /><//>
    <div class="columns">
      <div>
        <${Card} id="criteria" title=${`Phase ${phaseWord(phase)}: ${plain(detail.status).replace("_", " ")}`}>
          <p>${plain(detail.objective)}</p>
          <h3>Exit criteria</h3>
          <${Criteria} rows=${detail.exit_criteria} />
        <//>
        <${Card} id="recent-steps" title=${html`Recent steps <span class="number">${detail.steps.total}</span>`}>
          <ol class="timeline">
            ${[...detail.steps.recent].reverse().map((step) => html`<li key=${step.step}><a href=${linkTo(data, `/step/${step.step}`)}>
              <span class=${`mark ${step.result === "open" ? "go" : step.result === "blocked_on_human" ? "ask" : wentWrong(step.result) ? "bad" : "good"}`} aria-hidden="true"></span>
              <span class="step-number">#${step.step}</span><span class="what">${plain(step.action)} ${plain(step.target || "")}</span>
              <span class="when">${outcomeWord(step.result)}</span><span class="told">${plain(step.summary)}</span></a></li>`)}
          </ol>
          ${detail.steps.recent.length === 0 && html`<p class="quiet">${detail.status === "completed" ? "It took no step of a model: it was computed." : "No step yet."}</p>`}
        <//>
      </div>
      <div>
        <${Card} id="times" title="Times"><${Facts} rows=${[["Started", moment(detail.started_at) || "–"], ["Ended", moment(detail.ended_at) || "–"]]} /><//>
        <${Card} id="touched" title="Files touched">
          ${detail.files_touched.length ? html`<ul class="plain-list">${detail.files_touched.map((each) => html`<li key=${each.path}><code>${plain(each.path)}</code> <span class="quiet">${each.changes} lines, ${clock(each.last_modified)}</span></li>`)}</ul>` : html`<p class="quiet">None.</p>`}
        <//>
      </div>
    </div>
  `;
}

export function Step({ task, step, onLive }) {
  const { data, error } = useTask(task, onLive);
  const { data: detail, error: wrong, load } = useData(taskPath(task, `/steps/${step}`));
  const now = useNow(5000);
  const total = data ? data.steps.total : 0;
  useEffect(() => {
    if (detail && detail.result.outcome === "open") load();
  }, [data && data.offset]);
  useEffect(() => {
    const move = (event) => {
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === "ArrowLeft" && step > 1 && data) location.hash = linkTo(data, `/step/${step - 1}`);
      if (event.key === "ArrowRight" && step < total && data) location.hash = linkTo(data, `/step/${step + 1}`);
    };
    document.addEventListener("keydown", move);
    return () => document.removeEventListener("keydown", move);
  }, [step, total, data]);
  if (!data || !detail) return error || wrong ? html`<${Trouble} error=${error || wrong}><a href="#/">Back to the board</a><//>` : html`<${Waiting} />`;
  return html`
    <${TaskHead} data=${data} task=${task} now=${now}><${Crumbs} data=${data} here=${`step ${step}`} /><//>
    <nav class="pager" aria-label="Steps">
      ${step > 1 ? html`<a class="button" href=${linkTo(data, `/step/${step - 1}`)}>← Step ${step - 1}</a>` : html`<span></span>`}
      <span class="quiet">step ${step} of ${total}</span>
      ${step < total ? html`<a class="button" href=${linkTo(data, `/step/${step + 1}`)}>Step ${step + 1} →</a>` : html`<span></span>`}
    </nav>
    <div class="columns">
      <div>
        <${Card} id="reply" title="What the model said">
          <${Text} text=${detail.llm_response.reasoning || "It gave no reason."} label="Reasoning" />
          <h3>Actions</h3>
          ${detail.action.parameters.actions.length ? html`<${Text} text=${JSON.stringify(detail.action.parameters.actions, null, 2)} label="Actions" />` : html`<p class="quiet">No action.</p>`}
        <//>
        <${Card} id="results" title="What came of it">
          ${detail.result.output.length === 0 && html`<p class="quiet">No tool was called.</p>`}
          ${detail.result.output.map((each, at) => html`<div key=${at} class="tool"><h3><span class=${each.ok ? "good-text" : "bad-text"}>${each.ok ? "✓" : "✗"}</span> ${plain(each.action)}</h3><${Text} text=${each.text} label=${`Result of ${each.action}`} /></div>`)}
        <//>
        ${detail.diff && html`<${Card} id="step-diff" title="What it changed"><${Diff} patch=${detail.diff.patch} open=${true} /><//>`}
        <${Context} context=${detail.context} />
      </div>
      <div>
        <${Card} id="facts" title=${`Step ${step}`}>
          <${Facts} rows=${[
            ["Stage", phaseWord(detail.phase)],
            ["Role", plain(detail.role)],
            ["Model", plain(detail.llm_call.model || "–")],
            ["Tokens in", number(detail.llm_call.prompt_tokens)],
            ["Tokens out", number(detail.llm_call.completion_tokens)],
            ["Began", moment(detail.timestamp)],
            ["Took", detail.duration_seconds === null ? "–" : duration(detail.duration_seconds)],
            ["Outcome", outcomeWord(detail.result.outcome)],
          ]} />
        <//>
        <${Card} id="state" title="State afterwards">
          <p>${detail.state_after.verification_status ? plain(detail.state_after.verification_status) : html`<span class="quiet">No check ran.</span>`}</p>
          ${detail.verdicts.map((each, at) => html`<p key=${at}><span class=${each.status === "passed" ? "good-text" : "bad-text"}>${each.status === "passed" ? "✓" : "✗"}</span> gate ${plain(each.gate)}: ${plain(each.status)}</p>`)}
          ${detail.feedback.length > 0 && html`<h3>Told to the next step</h3><${Text} text=${detail.feedback.join("\n")} label="Feedback" />`}
        <//>
        <${Card} id="again" title="Again">
          <p class="quiet">From this step with one thing changed, or the whole task with its recorded replies:</p>
          <ul class="commands"><li><${Command} text=${`agentforge fork ${data.task_id} --from-step ${step}`} /></li><li><${Command} text=${`agentforge replay ${data.task_id}`} /></li></ul>
        <//>
      </div>
    </div>
  `;
}

const isTool = (block) => block.name.startsWith("tools: ");

const Block = ({ each, most }) => html`
  <li>
    <details>
      <summary>
        <span class="block-name">${plain(each.name)}</span>
        <span class="block-size" aria-hidden="true"><span style=${{ width: `${Math.max(2, (100 * each.tokens) / most)}%` }}></span></span>
        <span class="block-tokens">${number(each.tokens)}</span>
        <span class="block-why">${plain(each.why)} (from ${plain(each.source)}${each.priority ? `, ${plain(each.priority)}` : ""}${each.shown && each.shown !== "full" ? `, shown as ${plain(each.shown)}` : ""}${each.reusable ? ", reusable" : ""})</span>
      </summary>
      <${Text} text=${each.text} lines=${60} label=${each.name} />
    </details>
  </li>
`;

function Context({ context }) {
  if (!context) return html`<${Card} id="context" title="What it saw"><p class="quiet">Its context does not exist yet.</p><//>`;
  const tools = context.blocks.filter(isTool);
  const most = Math.max(1, ...context.blocks.map((each) => each.tokens));
  return html`
    <${Card} id="context" title="What it saw" aside=${html`<span class="quiet">${number(context.tokens)} tokens${context.cap ? ` of ${number(context.cap)}` : ""}, ${percent(context.tokens ? context.reusable_tokens / context.tokens : 0)} can come from a cache</span>`}>
      <ul class="blocks">
        ${context.blocks.filter((each) => !isTool(each)).map((each, at) => html`<${Block} key=${at} each=${each} most=${most} />`)}
        ${tools.length > 0 &&
        html`<li><details>
          <summary><span class="block-name">${tools.length} tools</span><span class="block-size"></span><span class="block-tokens">${number(tools.reduce((sum, each) => sum + each.tokens, 0))}</span>
            <span class="block-why">what the role may do here: ${plain(tools.map((each) => each.name.replace("tools: ", "")).join(", "))}</span></summary>
          <ul class="blocks inner">${tools.map((each, at) => html`<${Block} key=${at} each=${each} most=${most} />`)}</ul>
        </details></li>`}
      </ul>
      ${context.dropped.length > 0 ? html`<h3>Left out</h3><ul class="plain-list">${context.dropped.map((each) => html`<li>${plain(each)}</li>`)}</ul>` : html`<p class="quiet">Nothing was left out.</p>`}
      ${context.flagged.map((each) => html`<p class="note warn">Reads like an instruction: ${plain(each)}</p>`)}
    <//>
  `;
}
