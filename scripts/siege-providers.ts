/**
 * `npm run siege:providers [-- --seconds 20 --sign-ins 50]`: what a plain read costs while 50 people sign in by a provider that hangs,
 * answers garbage or answers 10 MB, at the begin of sign-ins or at their end. The line `refuses` is what as many cost at a provider
 * that works. Fails where the read's 95th percentile is over one and a half times that, a read fails, or a sign-in takes longer than its limits
 * and a second.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { loadBenchData } from './bench/data.ts';
import type { ProviderFault } from './siege/faulty-provider.ts';
import { createReadLatencyClient, p95 } from './siege/read-latency-client.ts';
import type { SignInOutcomes } from './siege/waiting-sign-ins.ts';

/** The largest p95 of reads beside a faulty provider, as a multiple of that beside a working one. */
const MAX_RATIO = 1.5;
/** Milliseconds of AUTH_FAULTY_TIMEOUT, for the wait and for the work of each step of a sign-in, and what a busy machine may add. */
const TIMEOUT = 2000;
const SLACK = 1000;
const ANSWERS = ['hangs', 'answers garbage', 'answers 10 MB'] as const;
/** A discovery document that was once there is kept, so those faults come first. */
const FAULTS: readonly ProviderFault[] = [
  ...ANSWERS.map((answer) => ({ answer, at: 'discovery' }) as const),
  { answer: 'refuses', at: 'token' },
  ...ANSWERS.map((answer) => ({ answer, at: 'token' }) as const),
];

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '20' }, 'sign-ins': { type: 'string', default: '50' } },
});
const milliseconds = Number(values.seconds) * 1000;

interface Measured {
  readonly fault: ProviderFault;
  /** 95th percentile of the reads beside the sign-ins, in milliseconds. */
  readonly p95: number;
  /** Whether no read failed, and no sign-in took too long. */
  readonly isGood: boolean;
}

async function measure(service: SpawnedService, provider: ChildProcess, fault: ProviderFault): Promise<Measured> {
  provider.send(fault);
  const read = () => createReadLatencyClient(new URL('/items/article/1', service.url), service.admin.token);
  await read().readFor(1000);
  const before = await read().readFor(milliseconds);
  const options = { url: `${service.url}/auth/login/faulty`, count: Number(values['sign-ins']) };
  const load = fork(new URL('siege/waiting-sign-ins.ts', import.meta.url), [JSON.stringify(options)]);
  await once(load, 'message');
  await pause(TIMEOUT);
  const during = await read().readFor(milliseconds);
  const reply = once(load, 'message');
  load.send('end');
  const [{ answers, slowest }] = (await reply) as [SignInOutcomes];
  const steps = fault.at === 'discovery' ? 1 : 2;
  const isGood = during.failed === 0 && slowest <= steps * 2 * TIMEOUT + SLACK;
  const codes = Object.entries(answers).map(([code, count]) => `${code} × ${count}`);
  console.log(
    `${nameOf(fault)}read p95 ${p95(before.latencies).toFixed(1)} → ${p95(during.latencies).toFixed(1)} ms; ` +
      `${during.failed} reads failed; sign-ins: ${codes.join(', ')}, the slowest ${slowest.toFixed(0)} ms; ${isGood ? 'within bounds' : 'OUT OF BOUNDS'}`,
  );
  return { fault, p95: p95(during.latencies), isGood };
}

const nameOf = ({ answer, at }: ProviderFault): string => `${answer} at ${at}`.padEnd(29);

/** Compares each fault with sign-ins at a provider that works: what these cost is no fault of the provider. */
function compare(all: readonly Measured[]): boolean {
  const working = all.find(({ fault }) => fault.answer === 'refuses')?.p95 as number;
  let isGood = all.every((one) => one.isGood);
  for (const { fault, p95: value } of all) {
    if (fault.answer === 'refuses') continue;
    const ratio = value / working;
    isGood &&= ratio <= MAX_RATIO;
    console.log(
      `${nameOf(fault)}${ratio.toFixed(2)} of the p95 beside a provider that works${ratio <= MAX_RATIO ? '' : ': OUT OF BOUNDS'}`,
    );
  }
  return isGood;
}

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('siege_providers');
const provider = fork(new URL('siege/faulty-provider.ts', import.meta.url));
let service: SpawnedService | undefined;
try {
  const [issuer] = (await once(provider, 'message')) as [string];
  await loadBenchData(database, 0.02);
  service = await spawnService({
    database,
    env: {
      LOG_LEVEL: 'warn',
      ACCESS_TOKEN_TTL: '1d',
      PUBLIC_URL: 'http://127.0.0.1:8055',
      AUTH_FAULTY_DRIVER: 'openid',
      AUTH_FAULTY_ISSUER_URL: issuer,
      AUTH_FAULTY_CLIENT_ID: 'service',
      AUTH_FAULTY_TIMEOUT: `${TIMEOUT}ms`,
    },
  });
  const all: Measured[] = [];
  for (const fault of FAULTS) all.push(await measure(service, provider, fault));
  process.exitCode = compare(all) ? 0 : 1;
} finally {
  provider.disconnect();
  await service?.stop();
  await database.drop();
  await server.stop();
}
