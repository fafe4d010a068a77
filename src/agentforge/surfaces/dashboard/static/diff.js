// A patch, side by side where there is room and line below line where there is not.

import { html, useState } from "./vendor/htm-preact.js";
import { plain } from "./words.js";

const MOST_ROWS = 600;

export function readPatch(patch) {
  const files = [];
  let file = null;
  let hunk = null;
  for (const line of String(patch || "").split("\n")) {
    if (line.startsWith("diff --git ")) {
      const name = line.slice(line.lastIndexOf(" b/") + 3);
      file = { name, hunks: [], added: 0, removed: 0, notes: [] };
      files.push(file);
      hunk = null;
    } else if (!file) {
      continue;
    } else if (line.startsWith("@@")) {
      const at = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
      hunk = { head: line, left: at ? Number(at[1]) : 0, right: at ? Number(at[2]) : 0, lines: [] };
      file.hunks.push(hunk);
    } else if (hunk && /^[ +\-\\]/.test(line)) {
      hunk.lines.push(line);
      if (line[0] === "+") file.added += 1;
      if (line[0] === "-") file.removed += 1;
    } else if (/^(new file|deleted file|rename|old mode|new mode|Binary)/.test(line)) {
      file.notes.push(line);
    }
  }
  return files;
}

// Rows with what was on the left and what is on the right; changed lines stand beside each other.
function rowsOf(hunk) {
  const rows = [];
  let { left, right } = hunk;
  let gone = [];
  let come = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) rows.push([gone[at] || null, come[at] || null]);
    gone = [];
    come = [];
  };
  for (const line of hunk.lines) {
    if (line[0] === "-") gone.push({ at: left++, text: line.slice(1), kind: "gone" });
    else if (line[0] === "+") come.push({ at: right++, text: line.slice(1), kind: "come" });
    else if (line[0] === " ") {
      flush();
      const text = line.slice(1);
      rows.push([{ at: left++, text, kind: "" }, { at: right++, text, kind: "" }]);
    }
  }
  flush();
  return rows;
}

const Cell = ({ side, name }) =>
  side
    ? html`<td class=${`at ${side.kind}`}>${side.at}</td><td class=${`code ${side.kind} ${name}`}>${plain(side.text)}</td>`
    : html`<td class="at void"></td><td class=${`code void ${name}`}></td>`;

export function FileDiff({ file, open: first = false }) {
  const [open, setOpen] = useState(first);
  const [all, setAll] = useState(false);
  let left = all ? Infinity : MOST_ROWS;
  const total = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return html`
    <div class="file">
      <button class="file-head" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        <span class="chevron" aria-hidden="true">${open ? "▾" : "▸"}</span>
        <span class="path">${plain(file.name)}</span>
        <span class="come-text">+${file.added}</span> <span class="gone-text">−${file.removed}</span>
      </button>
      ${open &&
      html`<div class="diff" tabindex="0" role="region" aria-label=${`Difference of ${file.name}`}>
        ${file.notes.map((note) => html`<p class="quiet note">${plain(note)}</p>`)}
        <table>
          <caption class="unseen">Before and after of ${plain(file.name)}</caption>
          <colgroup><col class="at" /><col /><col class="at" /><col /></colgroup>
          <tbody>
            ${file.hunks.map((hunk) => {
              if (left <= 0) return null;
              const rows = rowsOf(hunk).slice(0, left);
              left -= rows.length;
              return html`<tr class="hunk"><td colspan="4">${plain(hunk.head)}</td></tr>
                ${rows.map(([before, after]) => html`<tr><${Cell} side=${before} name="left" /><${Cell} side=${after} name="right" /></tr>`)}`;
            })}
          </tbody>
        </table>
        ${!all && total > MOST_ROWS && html`<button class="link" onClick=${() => setAll(true)}>Show all ${total} lines</button>`}
      </div>`}
    </div>
  `;
}

export function Diff({ patch, open = false }) {
  const files = readPatch(patch);
  if (!files.length) return html`<p class="quiet">No file has changed.</p>`;
  return html`<div class="files">${files.map((file, at) => html`<${FileDiff} key=${file.name} file=${file} open=${open && at < 3} />`)}</div>`;
}
