import type { Caller } from '#kernel';
import { toCallerFromAccountability } from '../caller-accountability.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';

/** Constructor options of services. `schema` is accepted and ignored. */
export interface ExtensionServiceOptions {
  readonly schema?: unknown;
  /** The caller whose permissions apply; without a caller no permissions apply, and the service acts as the system. */
  readonly accountability?: object | null;
  /** A transaction of `database`, in which the service runs. */
  readonly knex?: unknown;
}

export interface ServiceMethodOptions {
  /** False: no listener of an extension is called. Core rules apply all the same. */
  readonly emitEvents?: boolean;
  readonly [other: string]: unknown;
}

/** The base class of all services: caller and transaction. */
export function createBaseServiceClass(runtime: ExtensionRuntime) {
  return class Acting {
    readonly schema: unknown;
    readonly accountability: object | null;
    readonly knex: unknown;

    constructor({ schema, accountability, knex }: ExtensionServiceOptions = {}) {
      this.schema = schema;
      this.accountability = accountability ?? null;
      this.knex = knex;
    }

    /** Runs a verb. Without accountability the ledger counts one use of the system caller. */
    protected act<T>(work: (caller: Caller) => Promise<T>, options?: ServiceMethodOptions): Promise<T> {
      const { accountability, knex } = this;
      const run = () =>
        runtime.db.runInTransaction(knex, async () =>
          work(
            accountability
              ? toCallerFromAccountability(runtime.deps.identity, accountability)
              : runtime.asSystem('service without accountability'),
          ),
        );
      return options?.emitEvents === false ? runtime.events.withoutExtensionListeners(run) : run();
    }
  };
}

export type BaseServiceClass = ReturnType<typeof createBaseServiceClass>;
