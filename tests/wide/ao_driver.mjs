// AO's own code of either line, driven by lines of JSON: a fake agent, a runtime that is a plain process, and
// AO's session manager between them. usage: node ao_driver.mjs old|new FOLDER REPOSITORY
import { spawn as start } from "node:child_process";
import { createRequire } from "node:module";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [line, folder, repository] = process.argv.slice(2);
const processes = new Map();

function end(child) {
  try { if (child) process.kill(-child.pid, "SIGKILL"); } catch { /* it has ended */ }
}

const runtime = {
  name: "plain",
  async create({ sessionId, workspacePath, launchCommand, environment }) {
    const child = start("sh", ["-c", launchCommand], {
      cwd: workspacePath,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "ignore", "inherit"],
      detached: true, // a group of its own, which ends as a whole
    });
    processes.set(sessionId, child);
    return { id: sessionId, runtimeName: "plain", data: { pid: child.pid } };
  },
  async destroy(handle) { end(processes.get(handle.id)); },
  async sendMessage() {},
  async getOutput() { return ""; },
  async isAlive(handle) { return processes.get(handle.id)?.exitCode === null; },
};

// Its "model" is the shell line that the test names; the prompt reaches it as a variable.
const agent = {
  name: "fake",
  processName: "sh",
  getLaunchCommand: () => process.env.FAKE_AGENT,
  getEnvironment: (launch) => ({ FAKE_PROMPT: launch.prompt ?? "" }),
  detectActivity: () => "idle",
  async getActivityState() { return { state: "idle", timestamp: new Date() }; },
  async isProcessRunning() { return true; },
  async getSessionInfo() { return null; },
};

function plugin(slot, made) {
  return { manifest: { name: made.name, slot, description: "", version: "0" }, create: () => made };
}

function config() {
  const project = { name: "demo", repo: "local", path: repository, defaultBranch: "main", sessionPrefix: "dm" };
  return { defaults: { runtime: "plain", agent: "fake", workspace: "worktree", notifiers: [] }, projects: { demo: project } };
}

async function oldLine() {
  const core = await import(pathToFileURL(join(folder, "node_modules/@composio/ao-core/dist/index.js")));
  const file = join(homedir(), "agent-orchestrator.yaml");
  writeFileSync(file, JSON.stringify(config())); // JSON is YAML, too
  const loaded = core.loadConfig(file);
  return { core, loaded, sessions: core.getSessionsDir(loaded.configPath, repository) };
}

// The newer line's package is a bundle for a server: its modules are functions in files, wired here by hand.
function newLine() {
  const require = createRequire(import.meta.url);
  const server = join(folder, "package/.next/server");
  const modules = {};
  for (const name of readdirSync(join(server, "chunks"))) {
    if (name.endsWith(".js")) Object.assign(modules, require(join(server, "chunks", name)).modules ?? {});
  }
  const route = readFileSync(join(server, "app/api/spawn/route.js"), "utf8");
  for (const [, id, name] of route.matchAll(/(\d+):a=>\{"use strict";a\.exports=require\("((?:node:)?[a-z/_]+)"\)/g)) {
    modules[id] ??= (module) => { module.exports = require(name); };
  }
  const loaded = {};
  function load(id) {
    if (loaded[id]) return loaded[id].exports;
    const module = (loaded[id] = { exports: {} });
    if (!modules[id]) throw new Error(`the bundle lacks its module ${id}`);
    modules[id](module, module.exports, load);
    return module.exports;
  }
  load.d = (target, getters) => {
    for (const [name, get] of Object.entries(getters)) Object.defineProperty(target, name, { enumerable: true, get });
  };
  load.r = (target) => Object.defineProperty(target, "__esModule", { value: true });
  load.o = (target, name) => Object.prototype.hasOwnProperty.call(target, name);
  load.n = (module) => { const get = () => (module?.__esModule ? module.default : module); load.d(get, { a: get }); return get; };
  load.t = (value) => (typeof value === "number" || typeof value === "string" ? load(value) : value);
  load.e = async () => {};
  load.g = globalThis;
  const id = Object.keys(modules).find((each) => String(modules[each]).includes(".corrupt-"));
  const functions = Object.values(load(id)).filter((each) => typeof each === "function");
  const found = (text, parameters) => {
    const fits = functions.filter((each) => String(each).includes(text) && each.length === parameters);
    if (fits.length !== 1) throw new Error(`${fits.length} functions of the bundle fit ${text}`);
    return fits[0];
  };
  const manager = functions.find((each) => /registry:/.test(String(each).slice(0, 200)) && String(each).includes("Unknown project: ") && String(each).includes("AO_SESSION"));
  return {
    core: { createSessionManager: manager, updateMetadata: found("createIfMissing:!0", 3), createPluginRegistry: null },
    loaded: { ...config(), configPath: join(homedir(), "agent-orchestrator.yaml"), readyThresholdMs: 300000, power: {}, notifiers: {}, reactions: {}, notificationRouting: {} },
    sessions: join(homedir(), ".agent-orchestrator/projects/demo/sessions"),
  };
}

function registry(core, plugins) {
  if (core.createPluginRegistry) {
    const made = core.createPluginRegistry();
    for (const each of plugins) made.register(each);
    return made;
  }
  const kept = new Map(plugins.map((each) => [`${each.manifest.slot}:${each.manifest.name}`, each.create()]));
  return {
    register() {},
    get: (slot, name) => kept.get(`${slot}:${name}`) ?? null,
    list: (slot) => plugins.filter((each) => each.manifest.slot === slot).map((each) => each.manifest),
  };
}

const { core, loaded, sessions } = line === "old" ? await oldLine() : newLine();
const worktrees = process.env.AO_WORKTREES;
const { default: worktree } = await import(pathToFileURL(join(worktrees, "node_modules/@composio/ao-plugin-workspace-worktree/dist/index.js")));
const manager = core.createSessionManager({ config: loaded, registry: registry(core, [plugin("runtime", runtime), plugin("agent", agent), worktree]) });

const orders = {
  spawn: async ({ prompt }) => ({ id: (await manager.spawn({ projectId: "demo", prompt })).id }),
  list: async () => (await manager.list("demo")).map((each) => ({ id: each.id, metadata: each.metadata, workspace: each.workspacePath })),
  update: async ({ id, updates }) => { core.updateMetadata(sessions, id, updates); return {}; },
  kill: async ({ id }) => { await manager.kill(id); return {}; },
  where: async () => ({ sessions }),
};

for await (const text of createInterface({ input: process.stdin })) {
  const order = JSON.parse(text);
  let answer;
  try {
    answer = { done: await orders[order.order](order) };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
for (const child of processes.values()) end(child);
process.exit(0);
