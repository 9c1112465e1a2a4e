import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { until } from '../../support/until.ts';
import { type RunningMail, startMail } from './start-mail.ts';

/** What the child process does: it sends the message of one job, and the test kills it at the right moment. */
const CHILD = `
  const { startMail } = await import(process.env.START_MAIL);
  const server = { port: Number(process.env.SMTP_PORT) };
  const running = await startMail({ database: { url: process.env.DATABASE }, server });
  const job = JSON.parse(process.env.JOB);
  await running.queues.runLeftBehind('mail', job).catch((error) => console.error(error.message));
  console.log('done');
  setInterval(() => {}, 1000);`;

describe('mail: processes that die while they send', function () {
  this.timeout(180_000);
  let running: RunningMail;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-mail-crash-'));
    running = await startMail();
  });
  after(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const createJob = () => ({
    id: randomUUID(),
    data: { message: { to: 'ann@example.com', subject: 'Hello', text: 'Hello' } },
  });

  function spawnSender(job: unknown) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD], {
      env: {
        PATH: process.env.PATH,
        TMPDIR: folder,
        START_MAIL: new URL('start-mail.ts', import.meta.url).href,
        SMTP_PORT: String(running.server.port),
        DATABASE: running.database.url,
        JOB: JSON.stringify(job),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    const kill = async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    };
    return { kill, output: () => output };
  }

  /** Runs the job in this process, once PostgreSQL has ended the lock of the process that died. */
  const takeOver = (job: ReturnType<typeof createJob>) =>
    until(async () => {
      try {
        return (await running.queues.runLeftBehind('mail', job)) as object;
      } catch (error) {
        if ((error as Error).message !== 'another process is sending this message') throw error;
        return undefined;
      }
    });
  const copiesOf = ({ id }: { id: string }) =>
    running.server.received.filter(({ source }) => source.includes(`Message-ID: <${id}@example.com>`)).length;

  it('a process that dies before the server has replied leaves a message that is sent once, by the next process', async () => {
    const job = createJob();
    running.server.reactions.push('no reply');
    const sender = spawnSender(job);
    await until(() => running.server.reactions.length === 0, 120_000);
    await sender.kill();
    expect(await takeOver(job)).to.include({ outcome: 'accepted' });
    expect(copiesOf(job)).to.equal(1);
  });

  it('a process that dies after the record leaves a message that is not sent again', async () => {
    const job = createJob();
    const sender = spawnSender(job);
    await until(() => sender.output().includes('done'), 120_000);
    await sender.kill();
    expect(await takeOver(job)).to.include({ outcome: 'accepted' });
    expect(copiesOf(job)).to.equal(1);
  });

  it('a process that dies between reply and record is the one case of a second copy, with the same Message-ID', async () => {
    const job = createJob();
    const blocker = new pg.Client({ connectionString: running.database.url });
    await blocker.connect();
    try {
      await blocker.query('begin');
      // The record waits for this lock. It may be read meanwhile.
      await blocker.query('lock table platform_mail_acceptances in exclusive mode');
      const sender = spawnSender(job);
      await until(() => copiesOf(job) === 1, 120_000);
      await sender.kill();
      await blocker.query('rollback');
    } finally {
      await blocker.end();
    }
    // The record that waits in the database, if any, belongs to a process that is dead.
    await until(async () => {
      const [row] = await running.database.query<{ count: string }>(
        `select count(*) from pg_stat_activity where query like '%platform_mail_acceptances%' and state = 'active' and pid <> pg_backend_pid()`,
      );
      return row?.count === '0';
    });
    const recorded = await running.database.query('select 1 from platform_mail_acceptances where message = $1', [
      job.id,
    ]);
    expect(await takeOver(job)).to.include({ outcome: 'accepted' });
    expect(copiesOf(job)).to.equal(recorded.length === 0 ? 2 : 1);
  });
});
