// What the page asks of the server, and how it hears of news.

import { useCallback, useEffect, useRef, useState } from "./vendor/htm-preact.js";

export class Refused extends Error {
  constructor(status, told) {
    super(told.message);
    this.status = status;
    this.next = told.next || "";
  }
}

async function read(response) {
  let document = null;
  try {
    document = await response.json();
  } catch {
    // not ours: the server is gone, or something stands in its place
  }
  if (response.ok && document !== null) return document;
  const told = document && document.error;
  throw new Refused(response.status, told || { message: `The server answered ${response.status}.` });
}

// The key of the link, kept where only pages of this host and port can read. It leaves the address at once.
let key = "";
export function takeKey() {
  const given = /^#key=([0-9a-f]+)$/.exec(location.hash);
  if (given) history.replaceState(null, "", location.pathname);
  try {
    if (given) localStorage.setItem("key", given[1]);
    key = localStorage.getItem("key") || "";
  } catch {
    key = given ? given[1] : key; // a browser that keeps nothing: for as long as this tab is open
  }
  return Boolean(given);
}
takeKey();

const ask = (path, more = {}, headers = {}) =>
  fetch(path, { ...more, credentials: "omit", headers: { Accept: "application/json", Authorization: `Bearer ${key}`, ...headers } });

export const get = (path) => ask(path).then(read);

export const post = (path, body = {}) =>
  ask(path, { method: "POST", body: JSON.stringify(body) }, { "Content-Type": "application/json" }).then(read);

// A document for the person to keep: a link alone could not say the key.
export async function save(path, name) {
  const response = await ask(path, {}, { Accept: "*/*" });
  if (!response.ok) return read(response);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return undefined;
}

export const taskPath = (task, rest = "") =>
  `/api/tasks/${encodeURIComponent(task.id)}${rest}` + (task.repo ? `?repo=${encodeURIComponent(task.repo)}` : "");

// A document of the server: what was read last stays until there is something newer.
export function useData(path) {
  const [found, setFound] = useState({ path: null, data: null, error: null });
  const latest = useRef(0);
  const load = useCallback(() => {
    const turn = ++latest.current;
    return get(path).then(
      (data) => turn === latest.current && setFound({ path, data, error: null }),
      (error) => turn === latest.current && setFound((old) => ({ path, data: old.path === path ? old.data : null, error })),
    );
  }, [path]);
  useEffect(() => {
    load();
  }, [load]);
  const mine = found.path === path;
  return { data: mine ? found.data : null, error: mine ? found.error : null, load };
}

// News of one kind. A tab that slept says where it stopped listening, and is told what it missed.
export function useNews(path, start, hear) {
  const [live, setLive] = useState(null);
  const since = useRef(0);
  const hearing = useRef(hear);
  hearing.current = hear;
  if (start > since.current) since.current = start;
  useEffect(() => {
    if (!path) return undefined;
    let socket = null;
    let timer = 0;
    let pause = 500;
    let over = false;
    const open = () => {
      const url = new URL(path, location.href);
      url.protocol = "ws:";
      if (since.current) url.searchParams.set("since", String(since.current));
      socket = new WebSocket(url, ["agentforge", `key.${key}`]);
      socket.onopen = () => {
        pause = 500;
        setLive(true);
      };
      socket.onmessage = (event) => {
        const said = JSON.parse(event.data);
        const mark = path.startsWith("/ws/tasks/") ? said.offset : said.mark;
        if (mark > since.current) since.current = mark;
        hearing.current(said);
      };
      socket.onclose = () => {
        setLive(false);
        if (over) return;
        timer = setTimeout(open, pause);
        pause = Math.min(pause * 2, 15000);
      };
    };
    const wake = () => {
      if (document.visibilityState !== "visible" || socket.readyState <= WebSocket.OPEN) return;
      clearTimeout(timer);
      open();
    };
    open();
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
      socket.close();
    };
  }, [path]);
  return live;
}

// Calls `work` soon, and once for many wishes at the same time.
export function useSoon(work, wait = 300) {
  const timer = useRef(0);
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    if (timer.current) return;
    timer.current = setTimeout(() => {
      timer.current = 0;
      latest.current();
    }, wait);
  }, [wait]);
}
