// Small pieces that every page is made of.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { phaseWord, plain, stateTone, stateWord } from "./words.js";

// The time, for ages that count on: no more often than a person could read it.
export function useNow(every = 1000) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export const Badge = ({ summary }) => html`<span class=${`badge ${stateTone(summary)}`}>${stateWord(summary)}</span>`;

export const Card = ({ title, aside, children, kind = "", id }) => html`
  <section class=${`card ${kind}`} aria-labelledby=${id}>
    ${title && html`<header class="card-head"><h2 id=${id}>${title}</h2>${aside && html`<div class="aside">${aside}</div>`}</header>`}
    ${children}
  </section>
`;

export const Progress = ({ share, label }) => html`
  <div class="progress" role="progressbar" aria-label=${label} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(share * 100)}>
    <div class="progress-bar" style=${{ width: `${Math.round(share * 100)}%` }}></div>
  </div>
`;

const MARKS = { done: "✓", covered: "✓", under_way: "●", left: "" };
const SPOKEN = { done: "done", covered: "covered by an earlier stage", under_way: "under way", left: "to come" };

// The stages of a task in their order, each with its steps where there is room.
export function Strip({ plan, steps, small, here, link, over }) {
  if (!plan || !plan.length) return null;
  return html`
    <ol class=${`strip ${small ? "small" : ""}`} aria-label="Stages">
      ${plan.map((item) => {
        const ended = over && item.progress === "under_way";
        const body = html`
          <span class="dot" aria-hidden="true">${ended ? "✗" : MARKS[item.progress]}</span>
          <span class="stage">${phaseWord(item.stage)}</span>
          ${!small && html`<span class="count">${steps && steps[item.stage] ? `${steps[item.stage]} ${steps[item.stage] === 1 ? "step" : "steps"}` : ""}</span>`}
          <span class="unseen">${ended ? "ended here" : SPOKEN[item.progress]}</span>
        `;
        return html`
          <li key=${item.stage} class=${`${ended ? "ended" : item.progress} ${here === item.stage ? "here" : ""}`}>
            ${link && item.progress !== "left" ? html`<a href=${link(item.stage)}>${body}</a>` : html`<span>${body}</span>`}
          </li>
        `;
      })}
    </ol>
  `;
}

export const Facts = ({ rows }) => html`
  <dl class="facts">
    ${rows.filter(Boolean).map(([name, value, tall]) => html`<div key=${name} class=${tall ? "tall" : ""}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>
`;

export const Trouble = ({ error, children }) =>
  error &&
  html`<div class="trouble" role="alert"><strong>${plain(error.message)}</strong> ${plain(error.next || "")} ${children}</div>`;

export const Waiting = ({ what = "Reading" }) => html`<p class="quiet loading" role="status">${what}…</p>`;

// A text that can be long: a beginning, and all of it on demand.
export function Text({ text, lines = 18, label = "Text" }) {
  const all = plain(text);
  const parts = all.split("\n");
  const [open, setOpen] = useState(false);
  const cut = !open && parts.length > lines;
  return html`
    <div class="text-block">
      <pre tabindex="0" role="region" aria-label=${label}>${cut ? parts.slice(0, lines).join("\n") : all}</pre>
      ${parts.length > lines && html`<button class="link" onClick=${() => setOpen(!open)}>${cut ? `Show all ${parts.length} lines` : "Show less"}</button>`}
    </div>
  `;
}

// A command to be typed elsewhere.
export function Command({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  return html`<span class="command"><code>${plain(text)}</code><button class="link" onClick=${copy} aria-label=${`Copy ${text}`}>${copied ? "copied" : "copy"}</button></span>`;
}

// Something that is asked once more before it is done.
export function Confirm({ label, question, yes, tone = "", onYes, busy, children }) {
  const [asking, setAsking] = useState(false);
  const first = useRef(null);
  useEffect(() => {
    if (asking && first.current) first.current.focus();
  }, [asking]);
  if (!asking) return html`<button class=${tone} disabled=${busy} onClick=${() => setAsking(true)}>${label}</button>`;
  return html`
    <div class="confirm" role="group" aria-label=${question} onKeyDown=${(event) => event.key === "Escape" && setAsking(false)}>
      <span>${question}</span> ${children}
      <button ref=${first} class=${tone} disabled=${busy} onClick=${() => onYes().then(() => setAsking(false))}>${yes}</button>
      <button onClick=${() => setAsking(false)}>Keep it</button>
    </div>
  `;
}

// Sends something and remembers what came of it.
export function useAction() {
  const [state, setState] = useState({ busy: false, error: null, notes: [] });
  const run = (work) => {
    setState({ busy: true, error: null, notes: [] });
    return work().then(
      (done) => {
        setState({ busy: false, error: null, notes: (done && done.notes) || [] });
        return done;
      },
      (error) => {
        setState({ busy: false, error, notes: [] });
        return null;
      },
    );
  };
  return { ...state, run };
}
