// What is proved: each requirement with its tests and their runs; and what is not.

import { html } from "./vendor/htm-preact.js";
import { taskPath, useData } from "./api.js";
import { Card, Facts, Trouble, Waiting, useNow } from "./parts.js";
import { TaskHead, useTask } from "./task.js";
import { linkTo, plain } from "./words.js";

const words = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

const List = ({ lines, empty }) =>
  lines && lines.length ? html`<ul class="plain-list">${lines.map((each, at) => html`<li key=${at}>${plain(words(each))}</li>`)}</ul>` : html`<p class="quiet">${empty}</p>`;

export function Evidence({ task, onLive }) {
  const { data, error } = useTask(task, onLive);
  const { data: found, error: wrong } = useData(taskPath(task, "/evidence"));
  const now = useNow(5000);
  if (!data || !found) return error || wrong ? html`<${Trouble} error=${error || wrong}><a href="#/">Back to the board</a><//>` : html`<${Waiting} />`;
  return html`
    <${TaskHead} data=${data} task=${task} now=${now}><a href=${linkTo(data)}>${plain(data.repo)}: task</a> <span aria-hidden="true">›</span> <span aria-current="page">evidence</span><//>
    ${found.delivered ? html`<${Matrix} found=${found} />` : html`<p>Nothing is delivered yet, so nothing is proved.</p>`}
  `;
}

function Matrix({ found }) {
  return html`
    <${Card} id="matrix" title="Requirement, test, run">
      ${found.requirements.length
        ? html`<div class="scroll" tabindex="0" role="region" aria-label="Evidence matrix"><table class="matrix">
            <thead><tr><th scope="col">Requirement</th><th scope="col">Proved by</th><th scope="col">Before the change</th><th scope="col">After the change</th></tr></thead>
            <tbody>${found.requirements.map((each) => html`<${Requirement} key=${each.id} each=${each} />`)}</tbody>
          </table></div>`
        : html`<p class="quiet">This pipeline states no requirements.</p>`}
    <//>
    <div class="columns">
      <div>
        <${Card} id="unproved" title="Not proved by a test"><${List} lines=${found.not_proved_by_test} empty="Every requirement has a test." /><//>
        <${Card} id="unchecked" title="Not checked"><${List} lines=${found.not_checked} empty="Nothing is known to be unchecked." /><//>
        <${Card} id="flags" title="Pointed out"><${List} lines=${found.flags.map((each) => each.text || each.reason || words(each))} empty="Nothing." /><//>
      </div>
      <div>
        <${Card} id="proof" title="Proof"><${Facts} rows=${[
          ["Branch", html`<code>${plain(found.branch)}</code>`, true],
          ["Commit", html`<code>${plain(found.commit).slice(0, 12)}</code>`],
          ["Seal", html`<code>${plain(found.seal).slice(0, 12) || "none"}</code>`],
          ["Signature", plain(found.signature) || "none", true],
          ["Command", html`<code>${plain(found.command)}</code>`, true],
        ]} />${found.same_author && html`<p class="note warn">The same model wrote the tests and the change.</p>`}<//>
        <${Card} id="reviews" title="Reviews">${found.reviews.length ? html`<ul class="plain-list">${found.reviews.map((each, at) => html`<li key=${at}><strong>${plain(each.by)}</strong>: ${plain(each.verdict)} ${plain(each.text)}</li>`)}</ul>` : html`<p class="quiet">None.</p>`}<//>
        <${Card} id="assumed" title="Assumed"><${List} lines=${found.assumptions} empty="Nothing." /><//>
      </div>
    </div>
  `;
}

const Requirement = ({ each }) => {
  const tests = each.tests || [];
  const rows = tests.length ? tests : [null];
  return rows.map((test, at) => html`<tr key=${at}>
    ${at === 0 && html`<th scope="rowgroup" rowspan=${rows.length}><strong>${plain(each.id || "")}</strong> ${plain(each.description || each.text || "")}</th>`}
    ${test ? html`<td><code>${plain(test.id || test.name || words(test))}</code></td><td>${plain(words(test.before ?? test.red ?? ""))}</td><td>${plain(words(test.after ?? test.green ?? test.status ?? ""))}</td>` : html`<td colspan="3" class="quiet">no test${each.verification_method ? `; by ${plain(each.verification_method)}` : ""}</td>`}
  </tr>`);
};
