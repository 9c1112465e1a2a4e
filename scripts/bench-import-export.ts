/**
 * `npm run bench:import-export [-- --rows 1000000 --limit 64]`: imports rows as CSV and JSON, updates them, and exports them in four
 * formats, each by a service in a process of its own. Prints seconds, rows a second, and the peak of the service's memory (Linux) over
 * that of the idle process: right after its start, and after some hundred ordinary requests, with which V8's space for new objects grows
 * to its size. Fails where a peak over the latter is above `--limit` MiB, or where rows are missing. The database's memory does not count.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { createMigratedDatabase, type SpawnedService } from '../test/support/service.ts';
import { spawnBenchService } from './bench/service-process.ts';

const MIB = 1024 ** 2;
const BOUNDARY = 'boundary-of-the-bench';
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, limit: { type: 'string', default: '64' } },
});
const rows = Number(values.rows);
const limit = Number(values.limit);

const TABLE = `create table article (id int primary key, title text not null, body text, price numeric(10,2), views int,
  published boolean, created timestamptz)`;
const BODY = 'Text of an article with "quotes", commas, and a line\nbreak. '.repeat(3);

const toRow = (id: number) => ({
  id,
  title: `Article ${id}`,
  body: BODY,
  price: `${id % 1000}.50`,
  views: id % 77,
  published: id % 2 === 0,
  created: new Date(1_700_000_000_000 + id * 1000).toISOString(),
});
const quote = (value: unknown): string =>
  typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value);

/** Renders a file of rows in parts of a thousand. */
const FILES: Readonly<Record<'csv' | 'json', { readonly type: string; render(from: number, to: number): string }>> = {
  csv: {
    type: 'text/csv',
    render(from, to) {
      const header = from === 1 ? `${Object.keys(toRow(1)).join(',')}\n` : '';
      return header + rowsOf(from, to, (row) => `${Object.values(row).map(quote).join(',')}\n`).join('');
    },
  },
  json: {
    type: 'application/json',
    render: (from, to) =>
      `${from === 1 ? '[' : ','}${rowsOf(from, to, (row) => JSON.stringify(row)).join(',')}${to >= rows ? ']' : ''}`,
  },
};

const rowsOf = <T>(from: number, to: number, render: (row: ReturnType<typeof toRow>) => T): T[] =>
  Array.from({ length: to - from + 1 }, (_one, at) => render(toRow(from + at)));

const memoryOf = ({ pid }: SpawnedService, name: 'VmRSS' | 'VmHWM'): number =>
  1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Begins a new peak of the resident memory. */
const resetPeak = ({ pid }: SpawnedService): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

async function sendImport({ url, admin }: SpawnedService, { type, render }: (typeof FILES)['csv']): Promise<void> {
  const sending: ClientRequest = request(`${url}/utils/import/article`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${admin.token}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
  });
  const response = once(sending, 'response') as Promise<[IncomingMessage]>;
  response.catch(() => {});
  sending.write(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="rows"\r\nContent-Type: ${type}\r\n\r\n`,
  );
  for (let from = 1; from <= rows; from += 1000)
    if (!sending.write(render(from, Math.min(rows, from + 999)))) await once(sending, 'drain');
  sending.end(`\r\n--${BOUNDARY}--\r\n`);
  const [reply] = await response;
  let text = '';
  for await (const part of reply.setEncoding('utf8')) text += part;
  if (reply.statusCode !== 200) throw new Error(`the import was answered ${reply.statusCode}: ${text.slice(0, 1000)}`);
}

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await createMigratedDatabase('bench_import_export');
let hasMissed = false;

/** Requests that any service answers, before the idle memory is read. */
async function warmUp({ request: send, admin }: SpawnedService): Promise<void> {
  for (let count = 0; count < 300; count++) await send('GET', '/fields', { token: admin.token });
}

/** Runs one phase in a service of its own and prints its figures. */
async function measure(name: string, work: (service: SpawnedService) => Promise<void>): Promise<void> {
  const service = await spawnBenchService(database);
  try {
    await pause(2000);
    const fresh = memoryOf(service, 'VmRSS');
    await warmUp(service);
    const idle = memoryOf(service, 'VmRSS');
    resetPeak(service);
    const since = performance.now();
    await work(service);
    const seconds = (performance.now() - since) / 1000;
    const peak = memoryOf(service, 'VmHWM');
    const [overIdle, overFresh] = [(peak - idle) / MIB, (peak - fresh) / MIB];
    hasMissed ||= overIdle > limit;
    const cells = [seconds.toFixed(1).padStart(8), (rows / seconds).toFixed(0).padStart(8)];
    const memory = `${overIdle.toFixed(0).padStart(4)} MiB over idle, ${overFresh.toFixed(0).padStart(4)} MiB over a fresh start`;
    console.log(
      `${name.padEnd(12)}${cells[0]} s${cells[1]} rows/s   peak ${memory}${overIdle > limit ? ' MISSED' : ''}`,
    );
  } finally {
    await service.stop();
  }
}

async function exportRows(service: SpawnedService, format: string): Promise<void> {
  const body = { query: { sort: ['id'] }, format };
  const { status } = await service.request('POST', '/utils/export/article', { token: service.admin.token, body });
  if (status !== 204) throw new Error(`the export was answered ${status}`);
  const isStored = async () =>
    (await database.query('select 1 from platform_files where type like $1', [`%${format}%`])).length > 0;
  while (!(await isStored())) await pause(50);
}

const countRows = async () => Number((await database.query<{ n: string }>('select count(*) n from article'))[0]?.n);

try {
  await database.query(TABLE);
  console.log(`${rows} rows`);
  for (const format of ['csv', 'json'] as const) {
    await database.query('truncate article');
    await measure(`import ${format}`, (service) => sendImport(service, FILES[format]));
    if ((await countRows()) !== rows)
      throw new Error(`${await countRows()} of ${rows} rows were imported as ${format}`);
  }
  await measure('update csv', (service) => sendImport(service, FILES.csv));
  for (const format of ['csv', 'json', 'xml', 'yaml'])
    await measure(`export ${format}`, (service) => exportRows(service, format));
} finally {
  await database.drop();
  await server.stop();
}
if (hasMissed) process.exitCode = 1;
