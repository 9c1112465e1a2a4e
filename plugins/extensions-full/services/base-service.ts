import type { Caller } from '#kernel';
import { toCaller } from '../caller.ts';
import type { ExtensionRuntime } from '../kit.ts';

/** What services are constructed with. `schema` is accepted and not needed: the service knows its tables. */
export interface ServiceOptions {
  readonly schema?: unknown;
  /** Whose permissions apply; null or absent for nobody's. */
  readonly accountability?: object | null;
  /** A transaction of `database`, in which everything is done. */
  readonly knex?: unknown;
}

export interface VerbOptions {
  /** False: no extension hears of it. The platform's own rules hold all the same. */
  readonly emitEvents?: boolean;
  readonly [other: string]: unknown;
}

/** What all service classes have in common: who acts, and in which transaction. */
export function createBaseService(kit: ExtensionRuntime) {
  return class Acting {
    readonly schema: unknown;
    readonly accountability: object | null;
    readonly knex: unknown;

    constructor({ schema, accountability, knex }: ServiceOptions = {}) {
      this.schema = schema;
      this.accountability = accountability ?? null;
      this.knex = knex;
    }

    /** For verbs only: asked for without accountability, it is one more time in the ledger. */
    protected act<T>(work: (caller: Caller) => Promise<T>, options?: VerbOptions): Promise<T> {
      const { accountability, knex } = this;
      const run = () =>
        kit.db.inside(knex, async () =>
          work(
            accountability
              ? toCaller(kit.deps.identity, accountability)
              : kit.asSystem('service without accountability'),
          ),
        );
      return options?.emitEvents === false ? kit.events.quietly(run) : run();
    }
  };
}

export type BaseServiceClass = ReturnType<typeof createBaseService>;
