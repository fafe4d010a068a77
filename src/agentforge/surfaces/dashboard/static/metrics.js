// How well tasks go, each figure beside its target.

import { html, useState } from "./vendor/htm-preact.js";
import { useData } from "./api.js";
import { Card, Trouble, Waiting } from "./parts.js";
import { money, number, percent, plain } from "./words.js";

const spelled = (name, value, figure) => {
  if (value === null || value === undefined) return name === "micro_usd" ? "price unknown" : "–";
  if (name === "micro_usd") return money(value / 1e6);
  if (figure.is_share) return percent(value);
  return Number.isInteger(value) ? number(value) : value.toFixed(1);
};

export function Metrics() {
  const [by, setBy] = useState("week");
  const { data, error } = useData(`/api/metrics?by=${by}`);
  if (!data) return error ? html`<${Trouble} error=${error} />` : html`<${Waiting} what="Reading the journals" />`;
  const names = Object.keys(data.figures).filter((name) => name !== "human_unseen");
  return html`
    <h1>Metrics</h1>
    <p class="quiet">All tasks of all your repositories, counted from their journals.</p>
    <ul class="figures">${names.map((name) => html`<${Figure} key=${name} name=${name} data=${data} />`)}</ul>
    ${data.all.human_unseen > 0 && html`<p class="quiet">${data.all.human_unseen} answers are not counted as time of a person: nobody knows when the question was shown.</p>`}
    <${Card} id="groups" title="By group" aside=${html`<label>by <select value=${by} onChange=${(event) => setBy(event.target.value)}>${["week", "repo", "lane", "model"].map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>`}>
      <${Bars} data=${data} />
      <div class="scroll" tabindex="0" role="region" aria-label="Figures by group"><table class="matrix">
        <thead><tr><th scope="col">${by}</th>${COLUMNS.map((name) => html`<th key=${name} scope="col">${plain(data.figures[name].words)}</th>`)}</tr></thead>
        <tbody>${data.groups.map((group) => html`<tr key=${group.name}><th scope="row">${plain(group.name)}</th>${COLUMNS.map((name) => html`<td key=${name}>${spelled(name, group[name], data.figures[name])}</td>`)}</tr>`)}</tbody>
      </table></div>
    <//>
  `;
}

const COLUMNS = ["tasks", "finished", "steps_per_finished", "escalation_rate", "first_pass_rate", "micro_usd"];

function Figure({ name, data }) {
  const figure = data.figures[name];
  const value = data.all[name];
  const target = data.targets[name];
  const met = target && value !== null && value !== undefined && (target.is === "under" ? value < target.value : value > target.value);
  return html`
    <li class="figure card">
      <span class="figure-words">${plain(figure.words)}</span>
      <span class="figure-value">${spelled(name, value, figure)}</span>
      ${figure.is_share && value !== null && html`<span class="progress" aria-hidden="true"><span class="progress-bar" style=${{ width: percent(value) }}></span></span>`}
      ${target && html`<span class=${met ? "good-text" : value === null ? "quiet" : "bad-text"}>target ${target.is} ${figure.is_share ? percent(target.value) : target.value}${value === null ? "" : met ? ": met" : ": missed"}</span>`}
    </li>
  `;
}

const MOST_BARS = 26;

function Bars({ data }) {
  const groups = data.groups.slice(-MOST_BARS);
  const most = Math.max(1, ...groups.map((each) => each.tasks));
  const wide = 24;
  const width = Math.max(1, groups.length) * wide;
  return html`
    <svg class="bars" viewBox=${`0 0 ${width} 80`} role="img" aria-label="Tasks and finished tasks of each group" preserveAspectRatio="xMinYMid meet">
      ${groups.map((each, at) => {
        const all = (76 * each.tasks) / most;
        const done = (76 * (each.finished || 0)) / most;
        return html`<g key=${each.name}><title>${plain(each.name)}: ${each.tasks} tasks, ${each.finished} finished</title>
          <rect class="bar-all" x=${at * wide + 3} y=${78 - all} width=${wide - 6} height=${all} rx="2" />
          <rect class="bar-done" x=${at * wide + 3} y=${78 - done} width=${wide - 6} height=${done} rx="2" /></g>`;
      })}
    </svg>
    ${groups.length > 0 &&
    html`<p class="legend quiet"><span class="swatch all" aria-hidden="true"></span> tasks <span class="swatch done" aria-hidden="true"></span> finished; ${number(most)} in the fullest. <span>${groups.length > 1 ? `${plain(groups[0].name)} to ${plain(groups[groups.length - 1].name)}` : plain(groups[0].name)}${data.groups.length > groups.length ? `, the last ${MOST_BARS} of ${data.groups.length}` : ""}.</span></p>`}
  `;
}
