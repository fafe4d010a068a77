// The page: a frame, and what the address names.

import { html, render, useCallback, useEffect, useState } from "./vendor/htm-preact.js";
import { get, takeKey } from "./api.js";
import { AllTasks, Board } from "./board.js";
import { Phase, Step } from "./deep.js";
import { Evidence } from "./evidence.js";
import { Metrics } from "./metrics.js";
import { Start } from "./start.js";
import { Task } from "./task.js";

function readAddress() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { parts, repo: new URLSearchParams(query || "").get("repo") };
}

function useAddress() {
  const [address, setAddress] = useState(readAddress());
  useEffect(() => {
    const changed = () => {
      if (takeKey()) location.reload();
      setAddress(readAddress());
      window.scrollTo(0, 0);
    };
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return address;
}

function Page({ address, onLive }) {
  const [kind, id, part, name] = address.parts;
  const task = { id, repo: address.repo };
  if (kind === "task" && id) {
    const key = `${address.repo} ${id} ${part} ${name}`;
    if (part === "phase" && name) return html`<${Phase} key=${key} task=${task} phase=${name} onLive=${onLive} />`;
    if (part === "step" && /^\d+$/.test(name || "")) return html`<${Step} key=${key} task=${task} step=${Number(name)} onLive=${onLive} />`;
    if (part === "evidence") return html`<${Evidence} key=${key} task=${task} onLive=${onLive} />`;
    return html`<${Task} key=${key} task=${task} onLive=${onLive} />`;
  }
  if (kind === "tasks") return html`<${AllTasks} />`;
  if (kind === "metrics") return html`<${Metrics} />`;
  if (kind === "new") return html`<${Start} />`;
  return html`<${Board} onLive=${onLive} />`;
}

const Locked = () => html`
  <main class="welcome"><h1>This page is locked</h1>
    <p>Open the link that <code>agentforge dashboard</code> printed in your terminal: it lets this browser in.</p></main>
`;

function App() {
  const address = useAddress();
  const [live, setLive] = useState(null);
  const [locked, setLocked] = useState(false);
  const onLive = useCallback((value) => setLive(value), []);
  const place = address.parts[0] || "";
  useEffect(() => setLive(null), [place]);
  useEffect(() => {
    get("/api/repositories").catch((error) => setLocked(error.status === 401));
    const key = (event) => {
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === "n") location.hash = "#/new";
      if (event.key === "b") location.hash = "#/";
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  if (locked) return html`<${Locked} />`;
  const tab = (name, href, label) => html`<a href=${href} aria-current=${place === name ? "page" : undefined}>${label}</a>`;
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>Skip to content</a>
    <header class="top">
      <a class="brand" href="#/"><img src="/static/mark.svg" alt="" width="26" height="26" /> <span>AgentForge</span></a>
      <nav aria-label="Pages">${tab("", "#/", "Board")}${tab("tasks", "#/tasks", "Tasks")}${tab("metrics", "#/metrics", "Metrics")}</nav>
      <span class=${`live ${live === null ? "off" : live ? "on" : "lost"}`} role="status">${live === null ? "" : live ? "live" : "reconnecting"}</span>
      <a class="button primary new" href="#/new">New task</a>
    </header>
    <main id="main" tabindex="-1"><${Page} address=${address} onLive=${onLive} /></main>
  `;
}

render(html`<${App} />`, document.getElementById("app"));
