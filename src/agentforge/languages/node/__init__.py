"""JavaScript and TypeScript: npm, pnpm and yarn; node:test, vitest, jest and mocha."""
