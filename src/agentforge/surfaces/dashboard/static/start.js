// A new task: a request, and where.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { post, useData } from "./api.js";
import { Trouble, Waiting, useAction } from "./parts.js";
import { linkTo, plain } from "./words.js";

export function Start() {
  const { data, error } = useData("/api/repositories");
  const [form, setForm] = useState({ request: "", repo: "", pipeline: "", lane: "", mode: "", model: "", budget: "", iterate: false });
  const action = useAction();
  const first = useRef(null);
  useEffect(() => {
    if (data && first.current) first.current.focus();
  }, [Boolean(data)]);
  if (!data) return error ? html`<${Trouble} error=${error} />` : html`<${Waiting} />`;
  const repo = form.repo || (data.repositories[0] || {}).path || "";
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const send = (event) => {
    event.preventDefault();
    const said = Object.fromEntries(Object.entries({ ...form, repo }).filter(([, value]) => value !== ""));
    action.run(() => post("/api/tasks", said)).then((done) => {
      if (done) location.hash = linkTo(done);
    });
  };
  const choice = (name, label, options) => html`<label>${label}<select value=${form[name]} onChange=${set(name)}><option value="">chosen from the request</option>${options.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>`;
  return html`
    <h1>New task</h1>
    ${data.repositories.length === 0 && html`<p>No repository is known yet. <code>agentforge repo add PATH</code> makes one known.</p>`}
    <form class="card form" onSubmit=${send}>
      <label>Repository<select value=${repo} onChange=${set("repo")}>${data.repositories.map((each) => html`<option key=${each.path} value=${each.path}>${plain(each.name)} (${plain(each.path)})</option>`)}</select></label>
      <label>What do you want?<textarea ref=${first} rows="4" required value=${form.request} onInput=${set("request")} placeholder="Add a --version flag to the command line"></textarea></label>
      <details><summary>More</summary>
        <div class="grid">
          ${choice("pipeline", "Pipeline", ["implement", "design", "test", "review", "document", "research", "write", "analyse", "curate"])}
          ${choice("lane", "Lane", ["hotfix", "small", "full"])}
          ${choice("mode", "Mode", ["fast", "balanced", "execute", "heavy", "debug", "architect", "offline-safe", "plan", "audit"])}
          <label>Model<input value=${form.model} onInput=${set("model")} placeholder="your tiers" /></label>
          <label>Budget in dollars<input value=${form.budget} onInput=${set("budget")} inputmode="decimal" placeholder="no cap of yours" /></label>
          <label class="check"><input type="checkbox" checked=${form.iterate} onChange=${set("iterate")} /> Show me each version first</label>
        </div>
      </details>
      <div class="buttons"><button class="primary" disabled=${action.busy || !form.request.trim() || !repo}>${action.busy ? "Starting…" : "Start task"}</button></div>
      <p class="quiet">Your checkout is never touched and nothing is merged. The task runs in a process of its own: closing this page or the server does not stop it.</p>
      <${Trouble} error=${action.error} />
    </form>
  `;
}
