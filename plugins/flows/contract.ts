import { authorities, type Caller, facet, service } from '#kernel';
import { createFlowOperationRegistry } from './operation-registry.ts';

/** The context of one run of an operation, beside its options. */
export interface FlowOperationContext {
  /** The whole data chain by operation key, with `$trigger`, `$last`, `$accountability`, `$env`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The caller on whose behalf the flow runs; null without a user, for example for a schedule. */
  readonly caller: Caller | null;
  /** The flow, its run (equal where a job runs it again) and the key of this operation. */
  readonly flow?: FlowOfOperation;
  /** Takes secrets of the run out of what leaves it, such as a line of the log. */
  readonly secrets?: { redact(value: unknown): unknown };
  /** Aborts when the operation's `timeout` is over, and when the run has to end; its promise then no longer counts. */
  readonly signal?: AbortSignal;
  /** 1 for the first attempt, 2 for the first retry. */
  readonly attempt?: number;
}

/** Where an operation runs. */
export interface FlowOfOperation {
  readonly id: string;
  readonly name: string;
  readonly run: string;
  readonly step: string;
}

/** One kind of step in a flow. Options arrive interpolated; a throw takes the reject branch. */
export interface FlowOperationKind {
  readonly id: string;
  run(options: Readonly<Record<string, unknown>>, context: FlowOperationContext): Promise<unknown>;
  /**
   * What a trial of a flow does with the operation, which changes nothing in the end. `run`: it runs, since the rollback of the transaction
   * undoes all it does; `run and list`: it is also listed among the effects. By default it is listed, does not run, and gives null.
   */
  readonly trial?: 'run' | 'run and list';
  /**
   * Whether all effects with these options are changes by `host.db`. A run in the background then makes them in one transaction with the
   * record that the operation has ended, so that they are not repeated after a crash. Default: false.
   */
  isAtomic?(options: Readonly<Record<string, unknown>>): boolean;
  /**
   * Options that hold secrets. They are stored apart from the others, encrypted where SECRETS_ENCRYPTION_KEY is set, and read back as the
   * mask; confined code gets references to them only.
   */
  readonly secretOptions?: readonly string[];
  /** The option with headers, a list of `{ header, value }` or an object: values of headers such as `Authorization` are secrets as well. */
  readonly secretHeaders?: string;
  /**
   * The package that the operation belongs to, where a plugin contributes it for a package; by default the contributing plugin.
   */
  readonly owner?: string;
}

/** Every kind of step that flows can have, also of third-party packages. All ids are in one namespace. */
export interface FlowOperationRegistry {
  /** The operation with this id; undefined without one, `ambiguous` with several. */
  find(id: string): FlowOperationKind | 'ambiguous' | undefined;
  /** Names of the plugins and packages that have an operation of this id. */
  owners(id: string): readonly string[];
  /** Every id that has an operation, ambiguous ones included. */
  ids(): readonly string[];
}

/**
 * Operations of all plugins, in any number and at any time. A second one of the same id hides neither: both are ambiguous until
 * one of them is removed. The manifest section lists the ids, or declares that they are ids of packages the plugin runs.
 */
export const flowOperations = facet<FlowOperationKind, FlowOperationRegistry>('flows.operations', {
  combine: createFlowOperationRegistry,
  manifest: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      ids: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
      packages: { const: true },
    },
  },
  validate: ({ id }, { ids = [], packages = false }) =>
    packages || ids.includes(id) || `the operation ${id} is not declared`,
  describe: ({ ids = [], packages = false }) => [
    ...authorities(
      'provides',
      ids.map((id: string) => `the operation ${id}`),
    ),
    ...authorities('contributes to', packages ? ['operations of flows'] : [], 'for the packages it runs'),
  ],
});

/** For plugins that run flows, or decide which operations packages may add. */
export const operations = service<FlowOperationRegistry>('operations', { version: '1.0.0' });
