import { readFileSync } from 'node:fs';
import type { ConfinedChild } from '../confined-child.ts';

/** The source of the probe program. */
export const readProbeSource = (): string => readFileSync(new URL('./probe.cjs', import.meta.url), 'utf8');

/**
 * The result of one attempt of the probe program: a value where it succeeded, else an error code. `PROBE_ENDED_ANSWER` where the
 * process ended.
 */
export type ProbeAnswer = { readonly value: unknown } | { readonly error: string };

export interface ProbeClient {
  /** Resolves with false where the probe program did not start within the timeout. */
  readonly ready: Promise<boolean>;
  ask(attempt: string, parameters?: object): Promise<ProbeAnswer>;
}

export const PROBE_ENDED_ANSWER: ProbeAnswer = { error: 'ENDED' };
const ANSWER_TIMEOUT_MS = 10_000;

/** Creates the client of the probe program in a child. */
export function createProbeClient({ channel, ended }: ConfinedChild, timeout = ANSWER_TIMEOUT_MS): ProbeClient {
  const waiting = new Map<number, (answer: ProbeAnswer) => void>();
  let isOver = false;
  let count = 0;
  let rest = '';
  const expect = (id: number) =>
    new Promise<ProbeAnswer>((resolve) => {
      const settle = (answer: ProbeAnswer) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => settle({ error: 'NO_ANSWER' }), timeout);
      waiting.set(id, settle);
      if (isOver) settle(PROBE_ENDED_ANSWER);
    });
  channel.on('data', (bytes: Buffer) => {
    const lines = `${rest}${bytes}`.split('\n');
    rest = lines.pop() ?? '';
    for (const { id, ...answer } of lines.map((line) => JSON.parse(line))) waiting.get(id)?.(answer);
  });
  void ended.then(() => {
    isOver = true;
    for (const settle of [...waiting.values()]) settle(PROBE_ENDED_ANSWER);
  });
  return {
    ready: expect(0).then((answer) => 'value' in answer),
    ask(attempt, parameters = {}) {
      count += 1;
      const answer = expect(count);
      channel.write(`${JSON.stringify({ id: count, attempt, with: parameters })}\n`);
      return answer;
    },
  };
}

/**
 * True where the operating system refused the attempt. An error of the program itself, its end and a timeout prove
 * nothing.
 */
export const isAttemptRefusedByOs = (answer: ProbeAnswer): boolean =>
  'error' in answer && answer !== PROBE_ENDED_ANSWER && /^E[A-Z0-9]+$/.test(answer.error);
export const probeValueOf = (answer: ProbeAnswer): unknown => ('value' in answer ? answer.value : undefined);
