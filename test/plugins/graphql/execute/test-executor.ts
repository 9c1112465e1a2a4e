import type { Log } from '#kernel';
import type { ContributedGraphqlField } from '../../../../plugins/graphql/contract.ts';
import { createOperationExecutor } from '../../../../plugins/graphql/execute/execute.ts';
import type { HttpContext } from '../../../../plugins/http/contract.ts';
import type { SelectionReadRequest } from '../../../../plugins/items/contract.ts';
import type { GroupSelection, ReadResultText, RowSelection, RowStream } from '../../../../plugins/query/contract.ts';
import type { SchemaOverview } from '../../../../plugins/schema/contract.ts';
import { createCaller } from '../../../support/caller.ts';
import { prepareOperation } from '../plan/operations.ts';
import { createSmallSchema } from '../plan/small-schema.ts';

type ExecuteDeps = Parameters<typeof createOperationExecutor>[0];

/** A call of the fake items service by the executor. */
export interface RecordedItemsCall {
  readonly verb: string;
  readonly collection: string;
  readonly args: readonly unknown[];
}

export interface RecordedItemsRead extends Omit<SelectionReadRequest, 'selection'> {
  readonly collection: string;
  /** The selection, already evaluated. */
  readonly selection: RowSelection | GroupSelection;
}

interface Options {
  /** The fake items service's answer to a read. By default a read answers its response keys. */
  readonly select?: (read: RecordedItemsRead) => string | RowStream | Promise<string>;
  /** The fake items service's answer to a write. */
  readonly write?: (call: RecordedItemsCall) => unknown;
  readonly checkQuery?: (collection: string, query: object) => void;
  readonly fields?: Readonly<Record<string, Partial<ContributedGraphqlField>>>;
  readonly nodes?: number;
  /** Behaves as if all statements were cached, so that selections are not evaluated. */
  readonly hasCachedStatements?: true;
}

/** Creates the GraphQL executor with a fake items service, which answers without a database and records its calls. */
export function createTestGraphqlExecutor(options: Options = {}) {
  const calls: RecordedItemsCall[] = [];
  const reads: RecordedItemsRead[] = [];
  const logged: { readonly level: string; readonly err?: unknown; readonly status?: number }[] = [];
  const log = {
    error: (entry: object) => void logged.push({ level: 'error', ...entry }),
    debug: (entry: object) => void logged.push({ level: 'debug', ...entry }),
  } as unknown as Log;

  const recordWrite = async (verb: string, collection: string, ...all: readonly unknown[]): Promise<never> => {
    const cancellation = all.at(-1) as { signal?: unknown };
    if (typeof cancellation.signal !== 'function') throw new Error(`${verb} does not end with its client`);
    const call = { verb, collection, args: all.slice(0, -1) };
    calls.push(call);
    return (await options.write?.(call)) as never;
  };
  const deps: ExecuteDeps = {
    items: {
      async select(_caller, collection, { selection, ...request }): Promise<ReadResultText | RowStream> {
        const read = { collection, ...request, selection: options.hasCachedStatements ? { items: [] } : selection() };
        reads.push(read);
        calls.push({ verb: 'select', collection, args: [] });
        const answer = await (options.select?.(read) ?? responseKeys(read));
        return typeof answer === 'string' ? { data: answer, meta: null } : answer;
      },
      async checkQuery(_caller, collection, query) {
        calls.push({ verb: 'checkQuery', collection, args: [query] });
        options.checkQuery?.(collection, query);
      },
      createOne: (_caller, ...rest) => recordWrite('createOne', ...rest),
      createMany: (_caller, ...rest) => recordWrite('createMany', ...rest),
      updateOne: (_caller, ...rest) => recordWrite('updateOne', ...rest),
      updateMany: (_caller, ...rest) => recordWrite('updateMany', ...rest),
      updateEach: (_caller, ...rest) => recordWrite('updateEach', ...rest),
      upsertSingleton: (_caller, ...rest) => recordWrite('upsertSingleton', ...rest),
      deleteMany: (_caller, ...rest) => recordWrite('deleteMany', ...rest),
    },
    schema: {
      snapshot: async () =>
        ({ collections: new Map([['posts', { primary: 'post_id' }]]) }) as unknown as SchemaOverview,
    },
    ceilings: { depth: 10, nodes: options.nodes ?? 2000 },
    log,
    showsSuggestions: true,
  };
  const execute = createOperationExecutor(deps);
  const built = createSmallSchema(options.fields);
  const caller = createCaller({ user: 'u' });
  const ctx = {} as HttpContext;
  const signal = () => new AbortController().signal;

  /** Prepares an operation that can run again with other variables, like a cached document. */
  const prepare = (text: string, name?: string) => {
    const operation = prepareOperation(built, text, {}, name);
    return (variables: Record<string, unknown> = {}) =>
      execute(built, { ...operation, variables }, { caller, ctx, signal });
  };
  return {
    calls,
    reads,
    logged,
    caller,
    ctx,
    signal,
    prepare,
    run: (text: string, variables: Record<string, unknown> = {}, name?: string) => prepare(text, name)(variables),
    /** Runs an operation and returns its parsed response, which must not be streamed. */
    async answer(text: string, variables: Record<string, unknown> = {}) {
      const answer = await prepare(text)(variables);
      if (answer.kind !== 'text') throw new Error('the answer comes in parts');
      return { ...JSON.parse(answer.text), failed: answer.failed } as {
        data: Record<string, unknown> | null;
        errors?: readonly { message: string; path: unknown; locations: unknown; extensions: Record<string, unknown> }[];
        failed: boolean;
      };
    },
  };
}

const responseKeys = ({ selection }: RecordedItemsRead): string =>
  JSON.stringify(('items' in selection ? selection.items : selection.groups).map(({ key }) => key));
