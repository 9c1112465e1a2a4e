import type { Caller } from '#kernel';
import type { ReferenceDeps } from '../plan/references.ts';
import type { SchemaState } from '../schema-state.ts';

export interface SchemaCommandDeps extends ReferenceDeps {
  readonly state: SchemaState;
  /** The caller that commands act as: an admin of the machine has no user. */
  readonly system: () => Caller;
}

/** Exit codes, which programs may rely on. */
export const EXIT = { done: 0, failed: 1, usage: 2, changes: 3, refused: 4 } as const;
