// vitest: files run in its workers; what they report to its main process is taken down here.
import { createRequire } from "node:module";
const { tell, thrown } = createRequire(import.meta.url)("./report.cjs");

const OUTCOMES = { pass: "passed", fail: "failed", skip: "skipped", todo: "skipped" };

function take(file, task, names) {
  const here = [...names, task.name];
  if (task.tasks) {
    for (const each of task.tasks) take(file, each, here);
    const own = task.result?.errors ?? [];
    if (task.result?.state === "fail" && own.length)
      tell("suite", { file, names: here, phase: "setup", ...thrown(own[0]) });
    return;
  }
  const state = task.mode === "skip" || task.mode === "todo" ? task.mode : task.result?.state;
  const error = task.result?.errors?.[0] ?? task.result?.error;
  tell("test", {
    file,
    names: here,
    outcome: OUTCOMES[state] ?? "missing",
    phase: "call",
    why: state === "todo" ? "todo" : "",
    line: task.location?.line ?? 0,
    ms: task.result?.duration ?? 0,
    ...(error && state === "fail" ? thrown({ constructor: {}, ...error, name: error.name, message: error.message, stack: error.stack }) : {}),
  });
}

export default class Judge {
  onInit(vitest) {
    this.vitest = vitest;
  }
  // The first of the two that a version knows.
  onFinished(_files, errors) {
    this.finish(errors);
  }
  onTestRunEnd(_modules, errors) {
    this.finish(errors);
  }
  finish(errors) {
    if (this.done) return;
    this.done = true;
    for (const file of this.vitest.state.getFiles()) {
      const path = file.filepath;
      for (const task of file.tasks) take(path, task, []);
      const own = file.result?.errors ?? [];
      if (file.result?.state === "fail" && own.length)
        tell("file", { file: path, error: own.map((each) => `${each.name ?? ""}: ${each.message ?? ""}`).join("\n").slice(0, 6000) });
    }
    const stray = (errors ?? []).map((each) => `${each?.name ?? ""}: ${each?.message ?? each}`);
    tell("end", { stray: stray.slice(0, 5) });
  }
}
