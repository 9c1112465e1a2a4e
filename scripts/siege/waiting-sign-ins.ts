import { setTimeout as pause } from 'node:timers/promises';

/** Outcomes of sign-ins: how many ended with each answer, and how long the slowest took, in milliseconds. */
export interface SignInOutcomes {
  readonly answers: Readonly<Record<string, number>>;
  readonly slowest: number;
}

interface Options {
  readonly url: string;
  /** Sign-ins that wait at any time. */
  readonly count: number;
}

/** Keeps sign-ins waiting for a provider in a process of its own, until it receives a message; then sends the outcomes. */
const { url, count } = JSON.parse(process.argv[2] as string) as Options;
const answers: Record<string, number> = {};
let slowest = 0;
/** Milliseconds between the begins of one user. */
const INTERVAL = 1000;
let isOver = false;

/** Begins a sign-in, and comes back from the provider with a code where the begin led there. */
async function signIn(): Promise<Response> {
  const begin = await fetch(url, { redirect: 'manual' });
  const location = begin.headers.get('location');
  if (location === null) return begin;
  await begin.arrayBuffer();
  const cookie = begin.headers.getSetCookie().map((line) => line.split(';')[0]);
  const state = new URL(location).searchParams.get('state') ?? '';
  const callback = `${url}/callback?${new URLSearchParams({ code: 'code', state })}`;
  return fetch(callback, { redirect: 'manual', headers: { cookie: cookie.join('; ') } });
}

async function signInAgainAndAgain(_none: unknown, user: number): Promise<void> {
  // People do not begin in the same millisecond.
  await pause((user * INTERVAL) / count);
  while (!isOver) {
    const begun = performance.now();
    const answer = await signIn().catch(() => undefined);
    const body = answer ? await answer.text().catch(() => '') : '';
    const code = /"code":"(\w+)"/.exec(body)?.[1] ?? 'no answer';
    answers[code] = (answers[code] ?? 0) + 1;
    const duration = performance.now() - begun;
    slowest = Math.max(slowest, duration);
    // A person does not begin anew sooner: requests at full speed are another load.
    await pause(Math.max(0, INTERVAL - duration));
  }
}

const all = Array.from({ length: count }, signInAgainAndAgain);
process.send?.('started');
process.once('message', async () => {
  isOver = true;
  await Promise.all(all);
  const outcomes: SignInOutcomes = { answers, slowest };
  process.send?.(outcomes, () => process.exit());
});
