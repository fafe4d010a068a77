// Runs at the top of each file of tests that is watched, as the body of a function of `told`, `before` and
// `after`. What runs between the hooks of a test is written down when it ends.
const fs = globalThis.process?.getBuiltinModule?.("node:fs");
if (!fs) return;
const append = fs.appendFileSync, text = JSON.stringify;
const write = (row) => append(told.place, text(row) + "\n");
const ran = (globalThis[told.name] ??= new Function(told.make)());
write({ loaded: told.file });
// In mocha hooks at the top of a file are those of every file.
if (told.runner === "mocha" && ran.hooked) return;
ran.hooked = true;
const env = globalThis.process.env;

function names(self, given) {
  if (self?.currentTest?.titlePath) return self.currentTest.titlePath();
  if (given?.task) {
    const found = [];
    for (let task = given.task; task && !task.filepath; task = task.suite) found.unshift(task.name);
    return found;
  }
  return [given?.fullName ?? given?.name ?? globalThis.expect?.getState?.().currentTestName ?? ""];
}

before(function () {
  const key = text(names(this, arguments[0]));
  const seen = new Set();
  ran.tests.set(key, seen);
  ran.open.add(seen);
  if (!told.child) return;
  seen.before = [env.NODE_OPTIONS, env.AGENTFORGE_LINES];
  seen.place = `${told.place}.${ran.count++}.${globalThis.process.pid}`;
  env.AGENTFORGE_LINES = text({ name: told.name, place: seen.place });
  env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ""} --require ${text(told.child)}`.trim();
});
after(function () {
  const found = names(this, arguments[0]), key = text(found), seen = ran.tests.get(key);
  if (!seen) return;
  ran.open.delete(seen);
  ran.tests.delete(key);
  write({ file: this?.currentTest?.file ?? told.file, names: found, ran: [...seen], loading: [...ran.loading], child: seen.place ?? "" });
  if (seen.before) {
    for (const [name, value] of [["NODE_OPTIONS", seen.before[0]], ["AGENTFORGE_LINES", seen.before[1]]]) {
      if (value === undefined) delete env[name];
      else env[name] = value;
    }
  }
});
