// A person decides: an answer, a permission, or what to do with a version that is presented.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { post, taskPath, useData } from "./api.js";
import { Card, Text, Trouble, useAction } from "./parts.js";
import { ago, moment, plain } from "./words.js";

export function Questions({ task, summary, now, onDone }) {
  const { data, error, load } = useData(taskPath(task, "/escalations"));
  const open = data ? data.escalations.filter((each) => each.status === "open") : [];
  const id = summary.waiting && summary.waiting.id;
  useEffect(() => {
    load();
  }, [id]);
  useEffect(() => {
    // In a tab that nobody looks at it is not shown yet: the time of a person counts from when they see it.
    const tell = () => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", tell);
      for (const each of open) post(taskPath(task, `/escalations/${each.id}/shown`)).catch(() => {});
    };
    document.addEventListener("visibilitychange", tell);
    tell();
    return () => document.removeEventListener("visibilitychange", tell);
  }, [open.map((each) => each.id).join()]);
  if (!summary.waiting) return null;
  if (!data) return error ? html`<${Trouble} error=${error} />` : null;
  const done = () => load().then(onDone);
  return open.map((asked) => html`<${Question} key=${asked.id} task=${task} asked=${asked} presented=${data.presented} now=${now} onDone=${done} />`);
}

const TITLES = {
  permission: "May it run this?",
  budget: "The budget is used up",
  iteration: "Awaiting your decision",
  approval: "Awaiting your approval",
};

function Question({ task, asked, presented, now, onDone }) {
  const action = useAction();
  const send = (path, body) => action.run(() => post(taskPath(task, path), body)).then((done) => done && onDone());
  const resolve = (answer) => send(`/escalations/${asked.id}/resolve`, { answer });
  const Body = { permission: Permission, iteration: Decision, approval: Decision }[asked.kind] || Answer;
  return html`
    <${Card} kind="question" id=${asked.id} title=${TITLES[asked.kind] || "A question for you"} aside=${html`<span class="quiet">${asked.id}, stage ${plain(asked.stage)}, asked ${ago(asked.opened_at, now)}</span>`}>
      <${Body} asked=${asked} presented=${presented} busy=${action.busy} resolve=${resolve} send=${send} />
      ${asked.expires_at && html`<p class="quiet">Without an answer by ${moment(asked.expires_at)} it counts as “${plain(asked.unless_answered)}”.</p>`}
      <${Trouble} error=${action.error} />
      <${Background} asked=${asked} />
    <//>
  `;
}

const Background = ({ asked }) => html`
  <details>
    <summary>What led to this</summary>
    ${asked.reports.map((report, at) => html`<${Text} key=${at} text=${Object.entries(report).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("\n")} label="A failed attempt" />`)}
    ${asked.understanding && asked.understanding.last_check && html`<p>Last check: ${plain(asked.understanding.last_check)}</p>`}
    ${asked.understanding && asked.understanding.why.length > 0 && html`<p>Why this lane: ${plain(asked.understanding.why.join("; "))}</p>`}
    <p class="quiet">Work is in <code>${plain(asked.worktree || "a worktree that is not there yet")}</code>. In a terminal: <code>${plain(asked.answer_with || "")}</code></p>
  </details>
`;

function Answer({ asked, busy, resolve }) {
  const [words, setWords] = useState("");
  const options = asked.options.filter((each) => each !== "abort");
  return html`
    <p class="asked">${plain(asked.question)}</p>
    <div class="buttons">
      ${options.map((each) => html`<button key=${each} class=${each === asked.recommendation ? "primary" : ""} disabled=${busy} onClick=${() => resolve(each)}>${plain(each)}${each === asked.recommendation ? html` <small>recommended</small>` : ""}</button>`)}
    </div>
    <form class="own-words" onSubmit=${(event) => {
      event.preventDefault();
      if (words.trim()) resolve(words);
    }}>
      <label for=${`words-${asked.id}`}>In your own words</label>
      <textarea id=${`words-${asked.id}`} rows="2" value=${words} onInput=${(event) => setWords(event.target.value)}></textarea>
      <button class=${options.length ? "" : "primary"} disabled=${busy || !words.trim()}>Send answer</button>
    </form>
  `;
}

function Permission({ asked, busy, resolve, send }) {
  const [words, setWords] = useState("");
  const decide = (decision) => send("/permissions", { decision });
  return html`
    ${asked.command && html`<pre class="exact" tabindex="0" role="region" aria-label="The exact command">${plain(asked.command)}</pre>`}
    <${Text} text=${asked.question} lines=${24} label="What it wants to do" />
    <div class="buttons">
      <button class="primary" disabled=${busy} onClick=${() => decide("allow")}>Allow once</button>
      <button disabled=${busy} onClick=${() => decide("always")}>Always allow</button>
      <button class="danger" disabled=${busy} onClick=${() => decide("deny")}>Deny</button>
    </div>
    ${asked.always_grants && html`<p class="quiet">Always allow grants ${plain(asked.always_grants)}.</p>`}
    <form class="own-words" onSubmit=${(event) => {
      event.preventDefault();
      if (words.trim()) resolve(words);
    }}>
      <label for=${`words-${asked.id}`}>Deny, and say why</label>
      <textarea id=${`words-${asked.id}`} rows="2" value=${words} onInput=${(event) => setWords(event.target.value)}></textarea>
      <button disabled=${busy || !words.trim()}>Deny with these words</button>
    </form>
  `;
}

const LABELS = { approve: "Approve", exit: "End here with this", extend: "Extend", reject: "Reject", refuse: "Refuse", "go on": "Go on", stop: "Stop" };

function Decision({ asked, presented, busy, resolve, send }) {
  const [comments, setComments] = useState([]);
  const [overall, setOverall] = useState("");
  const can = (word) => asked.options.includes(word);
  const others = asked.options.filter((each) => !["approve", "revise", "reject", "exit", "extend", "abort"].includes(each));
  const issues = comments.filter((each) => each.text.trim()).map((each) => ({
    location: `${each.file}:${each.line}`,
    issue: each.text,
    priority: "must_address",
  }));
  const revise = () => send("/feedback", { comments: overall, issues });
  return html`
    <p class="asked">${plain(asked.question)}</p>
    ${presented.map((version) => html`<${Version} key=${version.file} version=${version} comments=${comments} setComments=${setComments} />`)}
    ${(can("revise") || can("reject")) &&
    html`<div class="own-words">
      <label for=${`words-${asked.id}`}>What should be different</label>
      <textarea id=${`words-${asked.id}`} rows="3" value=${overall} onInput=${(event) => setOverall(event.target.value)} placeholder=${presented.length ? "About the whole; click the number of a line above to comment on it" : ""}></textarea>
    </div>`}
    <div class="buttons">
      ${can("approve") && html`<button class="primary" disabled=${busy} onClick=${() => send("/approve")}>Approve</button>`}
      ${can("revise") && html`<button disabled=${busy || (!overall.trim() && !issues.length)} onClick=${revise}>Request changes${issues.length ? ` (${issues.length})` : ""}</button>`}
      ${can("reject") && html`<button disabled=${busy} onClick=${() => send("/reject", { reason: overall })}>Reject</button>`}
      ${can("exit") && html`<button disabled=${busy} onClick=${() => send("/exit")}>End here with this</button>`}
      ${can("extend") && html`<button disabled=${busy} onClick=${() => resolve("extend")}>Extend to implementation</button>`}
      ${others.map((each) => html`<button key=${each} disabled=${busy} onClick=${() => resolve(overall.trim() && ["refuse", "stop"].includes(each) ? `${each}: ${overall}` : each)}>${LABELS[each] || plain(each)}</button>`)}
    </div>
  `;
}

// A version with numbered lines; each can have a comment of its own.
function Version({ version, comments, setComments }) {
  const lines = plain(version.text).replace(/\n$/, "").split("\n");
  const mine = (line) => comments.find((each) => each.file === version.file && each.line === line);
  const toggle = (line) =>
    setComments(mine(line) ? comments.filter((each) => each !== mine(line)) : [...comments, { file: version.file, line, text: "" }]);
  const write = (line, text) =>
    setComments(comments.map((each) => (each.file === version.file && each.line === line ? { ...each, text } : each)));
  return html`
    <figure class="version">
      <figcaption>${plain(version.file)}</figcaption>
      <div class="lines" tabindex="0" role="region" aria-label=${version.file}>
        ${lines.map((text, at) => {
          const line = at + 1;
          const comment = mine(line);
          return html`<div key=${line} class=${`numbered ${comment ? "noted" : ""}`}>
              <button class="line-number" aria-label=${`Comment on line ${line}`} aria-pressed=${Boolean(comment)} onClick=${() => toggle(line)}>${line}</button>
              <code>${text || " "}</code>
            </div>
            ${comment && html`<div class="comment"><textarea rows="2" aria-label=${`Comment on line ${line}`} value=${comment.text} onInput=${(event) => write(line, event.target.value)} placeholder=${`What is wrong with line ${line}`}></textarea></div>`}`;
        })}
      </div>
    </figure>
  `;
}
