import { registerServiceImportResolver } from './resolve-sources.ts';

// The command line is imported dynamically, so that the resolver is registered before the imports of its thousand files are
// resolved.
registerServiceImportResolver();
await import('./command-line.ts');
