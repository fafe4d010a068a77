// node:test: each file in a process of its own, started from here; what they report is taken down here.
import { createRequire } from "node:module";
import { run } from "node:test";
const { settings, tell, thrown } = createRequire(import.meta.url)("./report.cjs");

const stacks = new Map();
const printed = new Map();
const above = (file, nesting) => (stacks.get(file) ?? []).slice(0, nesting);

function outcomeOf(data, passed) {
  if (data.skip !== undefined && data.skip !== false) return "skipped";
  if (data.todo !== undefined && data.todo !== false) return passed ? "xpassed" : "xfailed";
  return passed ? "passed" : "failed";
}

function take(data, passed) {
  const file = data.file ?? "";
  const error = data.details?.error;
  // A file that could not be loaded, or that registers no test, is reported as a test of its own name.
  if (data.nesting === 0 && settings.files.some((path) => data.name === path || path.endsWith(`/${data.name}`))) {
    const path = settings.files.find((each) => data.name === each || each.endsWith(`/${data.name}`));
    tell("file", { file: path, error: passed ? "" : `${printed.get(path) ?? ""}\n${error?.message ?? ""}`.slice(-6000) });
    return;
  }
  if (data.details?.type === "suite") return;
  const cause = error?.cause ?? error;
  tell("test", {
    file,
    names: [...above(file, data.nesting), data.name],
    outcome: outcomeOf(data, passed),
    phase: error?.failureType === "hookFailed" ? "setup" : "call",
    why: typeof data.skip === "string" ? data.skip : "",
    cancelled: error?.failureType === "cancelledByParent",
    line: data.line ?? 0,
    ms: data.details?.duration_ms ?? 0,
    ...(passed ? {} : thrown(cause)),
  });
}

const stream = run({ files: settings.files, concurrency: settings.jobs, timeout: settings.limit_ms });
for await (const { type, data } of stream) {
  if (type === "test:start") {
    const stack = above(data.file ?? "", data.nesting);
    stacks.set(data.file ?? "", [...stack, data.name]);
  } else if (type === "test:stderr" || type === "test:stdout") {
    printed.set(data.file, `${printed.get(data.file) ?? ""}${data.message}`.slice(-6000));
    if (type === "test:stderr") process.stderr.write(data.message);
    else process.stdout.write(data.message);
  } else if (type === "test:pass" || type === "test:fail") {
    take(data, type === "test:pass");
  }
}
tell("end");
process.exit(0);
