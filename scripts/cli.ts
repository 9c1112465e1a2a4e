import { resolveSources } from './resolve-sources.ts';

// Before the first of a thousand files is looked for, so the rest is no `import` statement.
resolveSources();
await import('./command-line.ts');
