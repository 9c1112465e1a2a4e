import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

/** Returns the statements that the service's connections run during `work`, read from the log of PostgreSQL. */
export async function captureStatementsFromServerLog(
  client: pg.Client,
  logFile: string,
  work: () => Promise<void>,
): Promise<string[]> {
  const marks = [0, 1].map(() => `-- mark ${randomBytes(8).toString('hex')}`) as [string, string];
  await setting(client, `alter system set log_line_prefix = '%a|'`);
  await setting(client, `alter system set log_statement = 'all'`);
  try {
    await client.query(`select 1 ${marks[0]}`);
    await work();
    await client.query(`select 1 ${marks[1]}`);
    const text = await until(async () => {
      const all = await readFile(logFile, 'utf8');
      return all.includes(marks[1]) ? all : undefined;
    });
    return text
      .slice(text.indexOf(marks[0]), text.indexOf(marks[1]))
      .split('\n')
      .flatMap((line) => /^tenon \d+\|LOG:\s+(?:statement|execute [^:]+): (.*)$/.exec(line)?.[1] ?? []);
  } finally {
    await setting(client, 'alter system reset log_statement');
    await setting(client, 'alter system reset log_line_prefix');
  }
}

/** Changes a setting of the server and waits until this session, and with it every other, has taken it over. */
async function setting(client: pg.Client, statement: string): Promise<void> {
  const loaded = async () =>
    (await client.query<{ at: Date }>('select pg_conf_load_time() as at')).rows[0]?.at.getTime() ?? 0;
  const before = await loaded();
  await client.query(statement);
  await client.query('select pg_reload_conf()');
  await until(async () => ((await loaded()) > before ? true : undefined));
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 10_000; Date.now() < end; await pause(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error('the database did not take the setting over within 10 s');
}
