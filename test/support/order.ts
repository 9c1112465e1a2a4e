/**
 * Test files of ten seconds and more. A run begins with them, the longest first: a long one at the end would leave all processes
 * but its own without work. Those that collect garbage to measure memory also take less time in a young process.
 */
export const LONG_FIRST: readonly string[] = [
  'test/plugins/storage-s3/conformance.test.ts',
  'test/plugins/storage/database-example.test.ts',
  'test/contract/grants-content.test.ts',
  'test/http/files-failures.test.ts',
  'test/plugins/storage-s3/driver.test.ts',
  'test/contract/grants-model.test.ts',
  'test/http/bodies-unfinished.test.ts',
  'test/http/permissions-graphql.test.ts',
  'test/sandbox/escape/escape.test.ts',
  'test/http/permissions-matrix.test.ts',
  'test/contract/grants-surfaces.test.ts',
  'test/plugins/storage-local/conformance.test.ts',
  'test/http/files-crash.test.ts',
  'test/plugins/media/processes.test.ts',
  'test/http/extensions-confined-consent.test.ts',
  'test/plugins/storage-s3/service.test.ts',
  'test/browser/explorer.test.ts',
  'test/http/select-listeners.test.ts',
  'test/http/extensions-required.test.ts',
  'test/http/extensions-plugins.test.ts',
  'test/contract/grants-ground.test.ts',
  'test/sandbox/escape/forged.test.ts',
  'test/plugins/query/hostile.test.ts',
  'test/http/extensions-consent-bypass.test.ts',
  'test/plugins/database/embedded.test.ts',
  'test/http/tus-crash.test.ts',
  'test/http/tus-processes.test.ts',
  'test/http/two-processes.test.ts',
];

/** The files of a run, as paths from the repository's root, in the order in which processes take them. */
export const inOrder = (files: readonly string[]): readonly string[] => [
  ...LONG_FIRST.filter((path) => files.includes(path)),
  ...files.filter((path) => !LONG_FIRST.includes(path)).sort(),
];
