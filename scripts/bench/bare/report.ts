import { requestAsAdmin } from '../../../test/http/test-users.ts';
import type { FreshDatabase } from '../../../test/support/database.ts';
import type { BenchScenario } from '../bench-scenarios.ts';
import { createEditorUser } from '../collection-setup.ts';
import type { BenchServers } from '../compared-servers.ts';
import { forkServer } from '../fork-server.ts';
import { benchTableHeader, renderBenchTableLine } from '../report.ts';
import { type BenchOptions, measureInRounds } from '../rounds.ts';
import { cpuProfileFlags } from '../service-process.ts';
import { BARE_SERVER_SCENARIOS } from './bare-server-scenarios.ts';

const ADMIN_TOKEN = 'static-token-of-the-admin';

/**
 * Compares the service with the bare server, both called with static tokens. Yields a line for each shape of these names, or for
 * all shapes.
 */
export async function* compareWithBareServer(
  { service, spawned }: Pick<BenchServers, 'service' | 'spawned'>,
  { seconds, rounds, ...rest }: BenchOptions,
  database: FreshDatabase,
  { names, profile }: { readonly names?: readonly string[]; readonly profile?: string },
): AsyncGenerator<string> {
  const shapes = BARE_SERVER_SCENARIOS.filter(({ name }) => names?.includes(name) ?? true);
  if (shapes.length === 0) return;
  await requestAsAdmin(spawned, 'PATCH', '/users/me', { token: ADMIN_TOKEN });
  const tokens = { admin: ADMIN_TOKEN, editor: (await createEditorUser(spawned)).token };
  const options = { ...rest, rounds: 3 * rounds, seconds: seconds / 2 };
  const headers = ({ as }: BenchScenario) => [`Authorization: Bearer ${tokens[as ?? 'admin']}`];
  const bare = await forkServer(
    new URL('./server.ts', import.meta.url),
    { BARE_DATABASE_URL: database.url, BARE_TOKENS: Object.values(tokens).join(' ') },
    cpuProfileFlags(profile),
  );
  try {
    const sides = {
      service: { ...service, headers },
      ideal: { name: 'ideal', url: bare.url, pid: bare.pid, application: 'bare', headers } as const,
    };
    yield `beside a bare server, with static tokens; ${options.rounds} rounds of ${options.seconds} s each; medians`;
    yield benchTableHeader(' bare');
    for (const shape of shapes) {
      for (const [, figures] of await measureInRounds([shape], sides, options, database))
        yield renderBenchTableLine(shape, figures);
    }
  } finally {
    await bare.stop();
  }
}
