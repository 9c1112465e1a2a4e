/**
 * `npm test [-- files, folders or globs] [--grep text] [--times]`: starts one database server, runs mocha over the test files beside each
 * other, removes the server again, and ends with the line `N passed, N failed`. Every statement of the run is compared with the
 * `database` grant of the plugin that ran it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDatabaseServer, type TestDatabaseServer } from '../test/support/database-server.ts';
import { renderFileTimes, TIMES_FILE_VARIABLE } from '../test/support/file-times.ts';
import { compareStatementsWithGrants } from '../test/support/statement-grants.ts';
import { STATEMENT_FOLDER_VARIABLE } from '../test/support/statement-record.ts';
import { TEMPLATE_DATABASE_VARIABLE } from '../test/support/template-database.ts';
import { sortTestFiles } from '../test/support/test-file-order.ts';

const LEFTOVERS = 15_000;
/** Two more than there are cores: tests wait for deadlines and for processes of theirs. Each takes up to a gigabyte. */
const JOBS = Math.min(6, availableParallelism() + 2);
const root = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string' },
    jobs: { type: 'string', default: String(JOBS) },
    bail: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
  },
});

let server: TestDatabaseServer | undefined;
let mocha: ChildProcess | undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The server must not stay behind, so this process lives until it has removed it.
  process.on(signal, () => {
    interrupted = true;
    mocha?.kill('SIGTERM');
  });
}

const times = join(tmpdir(), `tenon-times-${process.pid}`);
const statements = mkdtempSync(join(tmpdir(), 'tenon-statements-'));
let result = { passed: 0, failed: 0 };
try {
  const patterns = positionals.length > 0 ? positionals : ['test/**/*.test.ts'];
  const found = patterns.flatMap((pattern) => globSync([pattern, `${pattern}/**/*.test.ts`], { cwd: root }));
  const files = sortTestFiles([...new Set(found)].filter((path) => path.endsWith('.test.ts')));
  if (files.length === 0) throw new Error(`no test file fits ${patterns.join(' ')}`);
  server = await startDatabaseServer({ durable: false });
  if (!interrupted) result = await runMocha(files, server);
  if (!interrupted) result = { ...result, failed: result.failed + (await grantFailures()) };
} catch (error) {
  console.error(error);
  result = { ...result, failed: result.failed + 1 };
} finally {
  await server?.stop();
  rmSync(statements, { recursive: true, force: true });
  if (values.times) console.log(renderFileTimes(times, root));
  rmSync(times, { force: true });
}
process.exitCode = interrupted || result.failed > 0 || result.passed === 0 ? 1 : 0;
console.log(`${result.passed} passed, ${result.failed} failed`);

/** Tables that nothing declares fail the run; declared ones that nothing needs do where all tests ran. */
async function grantFailures(): Promise<number> {
  const { undeclared, idle } = await compareStatementsWithGrants(statements);
  const isWhole = positionals.length === 0 && values.grep === undefined && !values.bail;
  const failures = [...undeclared, ...(isWhole ? idle : [])];
  for (const line of failures) console.error(line);
  return failures.length;
}

async function runMocha(files: readonly string[], server: TestDatabaseServer): Promise<typeof result> {
  const jobs = Number(values.jobs);
  const child = spawn(
    process.execPath,
    [
      'node_modules/mocha/bin/mocha.js',
      '--reporter=./test/support/reporter.js',
      '--timeout=120000',
      '--require=./test/support/statement-record.ts',
      ...(values.times ? ['--require=./test/support/file-times.ts'] : []),
      ...(jobs > 1 && files.length > 1 ? ['--parallel', `--jobs=${jobs}`] : []),
      ...(values.bail ? ['--bail'] : []),
      ...(values.grep ? [`--grep=${values.grep}`] : []),
      ...files,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...process.env,
        TEST_DATABASE_URL: server.url,
        [TEMPLATE_DATABASE_VARIABLE]: server.template,
        [STATEMENT_FOLDER_VARIABLE]: statements,
        ...(values.times ? { [TIMES_FILE_VARIABLE]: times } : {}),
      },
    },
  );
  mocha = child;
  let counts: typeof result | undefined;
  child.on('message', (message) => {
    counts = message as typeof result;
    // Whatever a test left running would keep mocha alive for ever.
    setTimeout(() => {
      console.error('tests have left timers, connections or processes behind');
      child.kill('SIGKILL');
    }, LEFTOVERS).unref();
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  // No report, or a bad end beside a good report: something failed that is not a test.
  if (!counts || (code !== 0 && counts.failed === 0)) return { passed: counts?.passed ?? 0, failed: 1 };
  return counts;
}
