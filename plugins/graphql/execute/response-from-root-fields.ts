import type { SelectedRootField } from '../plan/root-fields.ts';
import { isClientGoneError, toErrorEntries, toInvalidQueryFailure } from './error-entries.ts';
import type { GraphqlErrorEntry, GraphqlResponse } from './operation-and-response-types.ts';
import type { GraphqlExecutionDeps, GraphqlOperationRun } from './operation-run.ts';
import type { RootFieldResult } from './root-result.ts';

/** The member of a finished root field in `data`, and its errors. */
export interface SettledRootField {
  readonly key: string;
  readonly text: string | null;
  readonly errors: readonly GraphqlErrorEntry[];
  /** The field failed and is non-null, so `data` is null. */
  readonly isFatal: boolean;
}

export async function settleRootField(
  deps: GraphqlExecutionDeps,
  run: GraphqlOperationRun,
  root: SelectedRootField,
  work: () => Promise<RootFieldResult>,
): Promise<SettledRootField> {
  try {
    const { text, errors = [] } = await work();
    const entries = errors.flatMap((error) =>
      toErrorEntries(deps.log, run.call.caller, error.originalError ?? error, {
        path: error.path ?? [root.key],
        nodes: error.nodes ?? root.nodes,
      }),
    );
    return { key: root.key, text, errors: entries, isFatal: text === null && root.nonNull };
  } catch (error) {
    return failRootField(deps, run, root, error);
  }
}

export function failRootField(
  { log }: GraphqlExecutionDeps,
  { call }: GraphqlOperationRun,
  { key, nodes, nonNull }: SelectedRootField,
  error: unknown,
): SettledRootField {
  if (isClientGoneError(error)) throw error;
  const errors = toErrorEntries(log, call.caller, toInvalidQueryFailure(error), { path: [key], nodes });
  return { key, text: null, errors, isFatal: nonNull };
}

/** Concatenates without copying: `join` would copy every text once more. */
function joinMembers(all: readonly SettledRootField[]): string {
  let text = '';
  for (const one of all) text += `${text === '' ? '' : ','}"${one.key}":${one.text ?? 'null'}`;
  return text;
}

/** The response with the values and the errors of all root fields. */
export function createGraphqlResponse(all: readonly SettledRootField[]): GraphqlResponse {
  const errors = all.flatMap((one) => one.errors);
  const data = all.some(({ isFatal }) => isFatal) ? 'null' : `{${joinMembers(all)}}`;
  const failed = errors.length > 0;
  return { kind: 'text', failed, text: `{"data":${data}${failed ? `,"errors":${JSON.stringify(errors)}` : ''}}` };
}
