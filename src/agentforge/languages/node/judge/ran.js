// The body of a function that makes what watched files call, each with the numbers of its lines: they belong
// to the tests that are open, or to nobody while files are loaded.
const ran = (number) => {
  if (!ran.open.size) ran.loading.add(number);
  for (const each of ran.open) each.add(number);
};
return Object.assign(ran, { open: new Set(), tests: new Map(), loading: new Set(), hooked: false, count: 0 });
