// jest: what each file did, as its main process is told.
"use strict";
const { tell, thrown } = require("./report.cjs");

const OUTCOMES = { passed: "passed", failed: "failed", pending: "skipped", disabled: "skipped", skipped: "skipped", todo: "skipped" };

module.exports = class Judge {
  onTestResult(_test, result) {
    const file = result.testFilePath;
    for (const each of result.testResults) {
      const detail = each.failureDetails?.[0];
      const error = detail?.matcherResult ? { name: "AssertionError", message: detail.matcherResult.message ?? detail.message, stack: detail.stack } : detail;
      const text = each.failureMessages?.[0] ?? "";
      tell("test", {
        file,
        names: [...each.ancestorTitles, each.title],
        outcome: OUTCOMES[each.status] ?? "missing",
        phase: "call",
        why: each.status === "todo" ? "todo" : "",
        line: each.location?.line ?? 0,
        ms: each.duration ?? 0,
        ...(each.status === "failed" ? thrown(error?.message ? error : { name: "Error", message: text.split("\n")[0], stack: text }) : {}),
      });
    }
    const failed = result.testExecError ?? (result.testResults.length ? null : result.failureMessage);
    if (failed) tell("file", { file, error: String(result.failureMessage ?? failed.message ?? failed).slice(0, 6000) });
  }
  onRunComplete() {
    tell("end");
  }
};
