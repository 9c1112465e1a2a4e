/**
 * `npm run faults:mail [-- --messages 300]`: two processes send mail by jobs to an SMTP server that refuses for a while, delays, and
 * breaks connections before and after its reply. Fails where a message is lost, or arrives again after the server said yes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import { type MailService, mail } from '../plugins/mail/contract.ts';
import { freshDatabase } from '../test/support/database.ts';
import { type MailReaction, startMailServer } from '../test/support/mail-server.ts';
import { silentSettings, writeTestPluginPackages } from '../test/support/test-plugins.ts';
import { until } from '../test/support/until.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';

const { values } = parseArgs({ options: { messages: { type: 'string', default: '300' } } });
const messages = Number(values.messages);
/** Retries of a message come after 30 s and more; most need one or two. */
const END_LIMIT = 1_800_000;
const PLUGINS = [
  'broker',
  'workers',
  'database',
  'cluster',
  'schedule',
  'http',
  'queue',
  'templates',
  'mail',
  'mail-smtp',
];
const FAULTS: readonly MailReaction[] = [
  'drop before reply',
  { code: 451, text: 'try again later' },
  { code: 421, text: 'too many connections' },
];
/** How often the server fails a message, and how often the connection breaks after it said yes. */
const FAULT_SHARE = 0.25;
const BREAK_SHARE = 0.1;

function drawReaction(): MailReaction {
  const drawn = Math.random();
  if (drawn < FAULT_SHARE) return FAULTS[Math.floor(Math.random() * FAULTS.length)] as MailReaction;
  return drawn < FAULT_SHARE + BREAK_SHARE ? 'drop after reply' : 'accept';
}

const server = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('mail_faults');
const delays = async () => pause(Math.random() * 200);
const smtp = await startMailServer({
  onMailFrom: (_address, _session, callback) => void delays().then(() => callback()),
});

async function start(): Promise<{ kernel: Kernel; mail: MailService; remove(): Promise<void> }> {
  let used: MailService | undefined;
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'sender',
      manifest: { uses: { mail: '^1.0.0' } },
      register(host: Host) {
        used = host.use({ mail }).mail;
      },
    },
  ]);
  const folders = PLUGINS.map((name) => new URL(`../plugins/${name}/`, import.meta.url));
  const kernel = await boot(
    { plugins: [...folders, ...composition.plugins] },
    {
      environment: {
        ...silentSettings,
        DB_CONNECTION_STRING: database.url,
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: 'localhost',
        EMAIL_SMTP_PORT: String(smtp.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
      },
    },
  );
  await kernel.migrate();
  await kernel.start();
  await kernel.listen();
  return { kernel, mail: used as MailService, remove };
}

const processes = [await start(), await start()];
for (let number = 0; number < 4 * messages; number++) smtp.reactions.push(drawReaction());
for (let number = 0; number < messages; number++)
  await processes[number % 2]?.mail.send({
    to: `user${number}@example.com`,
    subject: `Message ${number}`,
    text: `The text of message ${number}.`,
  });

const counts = async () =>
  database.query<{ state: string; count: number }>(
    `select state::text, count(*)::int from platform_queue.job where name = 'mail' group by state`,
  );
const started = Date.now();
let shown = '';
await until(async () => {
  const states = JSON.stringify(Object.fromEntries((await counts()).map(({ state, count }) => [state, count])));
  if (states !== shown && Date.now() - started > 1000) {
    shown = states;
    console.log(
      `${((Date.now() - started) / 1000).toFixed(0).padStart(5)} s  ${states}  ${smtp.received.length} accepted`,
    );
    await pause(4000);
  }
  return (await counts()).every(({ state }) => state === 'completed');
}, END_LIMIT).catch(() => {});

const copies = new Map<string, number>();
for (const { to } of smtp.received) for (const address of to) copies.set(address, (copies.get(address) ?? 0) + 1);
const repeated = [...copies].filter(([, count]) => count > 1);
const ending = await counts();
for (const { kernel, remove } of processes) {
  await kernel.stop();
  await remove();
}
await smtp.stop();
await database.drop();
await server.stop();
console.log(`${messages} messages, ${smtp.connections().total} connections, at the end ${JSON.stringify(ending)}`);
console.log(`${copies.size} arrived, ${repeated.length} of them more than once`);
process.exitCode = copies.size === messages && repeated.length === 0 ? 0 : 1;
