import type { Root } from '../plan/roots.ts';
import type { Answer, GraphqlErrorEntry } from './answer.ts';
import type { Outcome } from './outcome.ts';
import { asFailure, isAbandoned, reported } from './report.ts';
import type { ExecuteDeps, Run } from './run.ts';

/** A root field that is done, one way or the other. */
export interface Settled {
  readonly key: string;
  readonly text: string | null;
  readonly errors: readonly GraphqlErrorEntry[];
  /** It failed and may not be null, so that the whole answer is. */
  readonly isFatal: boolean;
}

export async function settled(deps: ExecuteDeps, run: Run, root: Root, work: () => Promise<Outcome>): Promise<Settled> {
  try {
    const { text, errors = [] } = await work();
    const entries = errors.flatMap((error) =>
      reported(deps.log, run.call.caller, error.originalError ?? error, {
        path: error.path ?? [root.key],
        nodes: error.nodes ?? root.nodes,
      }),
    );
    return { key: root.key, text, errors: entries, isFatal: text === null && root.nonNull };
  } catch (error) {
    return failed(deps, run, root, error);
  }
}

export function failed({ log }: ExecuteDeps, { call }: Run, { key, nodes, nonNull }: Root, error: unknown): Settled {
  if (isAbandoned(error)) throw error;
  const errors = reported(log, call.caller, asFailure(error), { path: [key], nodes });
  return { key, text: null, errors, isFatal: nonNull };
}

/** Put together piece by piece, which copies nothing: `join` would copy every text before the answer does. */
function members(all: readonly Settled[]): string {
  let text = '';
  for (const one of all) text += `${text === '' ? '' : ','}"${one.key}":${one.text ?? 'null'}`;
  return text;
}

/** The texts side by side, as they are. */
export function spliced(all: readonly Settled[]): Answer {
  const errors = all.flatMap((one) => one.errors);
  const data = all.some(({ isFatal }) => isFatal) ? 'null' : `{${members(all)}}`;
  const failed = errors.length > 0;
  return { kind: 'text', failed, text: `{"data":${data}${failed ? `,"errors":${JSON.stringify(errors)}` : ''}}` };
}
