// mocha: tests and judge share a process; what it says of each test is taken down as it ends.
"use strict";
const { tell, thrown } = require("./report.cjs");

module.exports = class Judge {
  constructor(runner) {
    const told = (test, outcome, more = {}) =>
      tell("test", { file: test.file ?? "", names: test.titlePath(), outcome, phase: "call", why: "", line: 0, ms: test.duration ?? 0, ...more });
    runner.on("pass", (test) => told(test, "passed"));
    runner.on("pending", (test) => told(test, "skipped"));
    runner.on("fail", (test, error) => {
      const meant = test.type === "hook" ? test.ctx?.currentTest ?? test : test;
      told(meant, "failed", { phase: test.type === "hook" ? "setup" : "call", ...thrown(error) });
    });
    runner.once("end", () => tell("end"));
  }
};
