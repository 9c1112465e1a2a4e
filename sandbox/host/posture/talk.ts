import { readFileSync } from 'node:fs';
import type { Child } from '../child.ts';

/** The hostile program as text. */
export const probeSource = (): string => readFileSync(new URL('./probe.cjs', import.meta.url), 'utf8');

/** What came of an attempt: a value where it worked, else why not. `ENDED` where the process did not survive it. */
export type Answer = { readonly value: unknown } | { readonly error: string };

export interface Talk {
  /** Resolves with false where the program did not start within the time. */
  readonly ready: Promise<boolean>;
  ask(attempt: string, parameters?: object): Promise<Answer>;
}

export const ENDED: Answer = { error: 'ENDED' };
const PATIENCE = 10_000;

/** Speaks with the hostile program in a child. */
export function talkTo({ channel, ended }: Child, patience = PATIENCE): Talk {
  const waiting = new Map<number, (answer: Answer) => void>();
  let isOver = false;
  let count = 0;
  let rest = '';
  const expect = (id: number) =>
    new Promise<Answer>((resolve) => {
      const settle = (answer: Answer) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => settle({ error: 'SILENT' }), patience);
      waiting.set(id, settle);
      if (isOver) settle(ENDED);
    });
  channel.on('data', (bytes: Buffer) => {
    const lines = `${rest}${bytes}`.split('\n');
    rest = lines.pop() ?? '';
    for (const { id, ...answer } of lines.map((line) => JSON.parse(line))) waiting.get(id)?.(answer);
  });
  void ended.then(() => {
    isOver = true;
    for (const settle of [...waiting.values()]) settle(ENDED);
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
 * Did the kernel refuse it? A mistake of the program itself, its end and its silence prove nothing.
 */
export const refused = (answer: Answer): boolean =>
  'error' in answer && answer !== ENDED && /^E[A-Z0-9]+$/.test(answer.error);
export const valueIn = (answer: Answer): unknown => ('value' in answer ? answer.value : undefined);
