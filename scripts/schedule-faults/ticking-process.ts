import { once } from 'node:events';
import type { Host } from '#kernel';
import { boot } from '#kernel/boot';
import { schedule } from '../../plugins/schedule/contract.ts';
import { silentSettings, writeTestPluginPackages } from '../../test/support/test-plugins.ts';

/** Messages of the script: the time on the clock of this process, or that the announced run may do its work. */
export type ScriptMessage = { readonly now: number } | { readonly go: number };

/** Messages to the script: a run of a tick has begun, or has done its work. */
export type ProcessMessage = 'ready' | { readonly began: number } | { readonly done: number };

/** Milliseconds between two ticks. */
export const TICK_INTERVAL = 100;

const PLUGINS = ['broker', 'workers', 'database', 'cluster', 'schedule'];

/** Stops the clock of this process: it shows what the script says. */
function freezeClock(now: number): void {
  let current = now;
  const RealDate = Date;
  process.on('message', (message: ScriptMessage) => {
    if ('now' in message) current = message.now;
  });
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [current] : args, self),
    get: (target, key) => (key === 'now' ? () => current : Reflect.get(target, key)),
  });
}

const tell = (message: ProcessMessage) => void process.send?.(message);

async function waitForGo(tick: number): Promise<void> {
  for (;;) {
    const [message] = (await once(process, 'message')) as [ScriptMessage];
    if ('go' in message && message.go === tick) return;
  }
}

// Run as a program.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [databaseUrl = '', now = ''] = process.argv.slice(2);
  freezeClock(Number(now));
  const { composition } = await writeTestPluginPackages([
    {
      name: 'ticking',
      manifest: { uses: { schedule: '^1.0.0' }, capabilities: { database: { sql: 'writes its runs' }, log: true } },
      register(host: Host) {
        const used = host.use({ schedule });
        host.onStart(() => {
          used.schedule.start({
            name: 'ticking',
            at: { every: TICK_INTERVAL },
            // A tick that comes while the run before is being recorded would be left out, as it should be.
            overlap: 'allow',
            log: host.log,
            async run({ at }) {
              tell({ began: at.getTime() });
              await waitForGo(at.getTime());
              await host.db.query('insert into runs (tick) values ($1)', [at]);
              tell({ done: at.getTime() });
            },
          });
        });
      },
    },
  ]);
  const kernel = await boot(
    {
      plugins: [...PLUGINS.map((name) => new URL(`../../plugins/${name}/`, import.meta.url)), ...composition.plugins],
    },
    { environment: { ...silentSettings, LOG_LEVEL: 'error', DB_CONNECTION_STRING: databaseUrl } },
  );
  await kernel.migrate();
  await kernel.start();
  process.on('disconnect', () => process.exit());
  tell('ready');
}
