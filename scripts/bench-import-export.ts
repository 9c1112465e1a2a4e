/**
 * `npm run bench:import-export [-- --rows 1000000 --limit 64]`: imports rows as CSV and JSON into a service in a process of its own,
 * exports them in four formats, and prints seconds, rows a second and the peak of the service's memory over its idle memory (Linux).
 * Fails where a peak is above `--limit` MiB, or where rows are missing. The database's memory does not count.
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
try {
  await database.query(TABLE);
  const service = await spawnBenchService(database);
  try {
    await pause(2000);
    const idle = memoryOf(service, 'VmRSS');
    console.log(`${rows} rows; idle memory ${(idle / MIB).toFixed(0)} MiB`);

    const measure = async (name: string, work: () => Promise<void>): Promise<void> => {
      resetPeak(service);
      const since = performance.now();
      await work();
      const seconds = (performance.now() - since) / 1000;
      const peak = (memoryOf(service, 'VmHWM') - idle) / MIB;
      hasMissed ||= peak > limit;
      console.log(
        `${name.padEnd(14)} ${seconds.toFixed(1).padStart(8)} s ${(rows / seconds).toFixed(0).padStart(8)} rows/s   peak over idle ${peak.toFixed(0).padStart(4)} MiB${peak > limit ? ' MISSED' : ''}`,
      );
      await pause(1000);
    };
    const count = async () => Number((await database.query<{ n: string }>('select count(*) n from article'))[0]?.n);

    for (const format of ['csv', 'json'] as const) {
      await database.query('truncate article');
      await measure(`import ${format}`, () => sendImport(service, FILES[format]));
      if ((await count()) !== rows) throw new Error(`${await count()} of ${rows} rows were imported as ${format}`);
    }
    await measure('update csv', () => sendImport(service, FILES.csv));
    for (const format of ['csv', 'json', 'xml', 'yaml']) {
      await measure(`export ${format}`, async () => {
        const body = { query: { sort: ['id'] }, format };
        const { status } = await service.request('POST', '/utils/export/article', { token: service.admin.token, body });
        if (status !== 204) throw new Error(`the export was answered ${status}`);
        const type = `%${format}%`;
        while ((await database.query('select 1 from platform_files where type like $1', [type])).length === 0)
          await pause(50);
      });
    }
  } finally {
    await service.stop();
  }
} finally {
  await database.drop();
  await server.stop();
}
if (hasMissed) process.exitCode = 1;
