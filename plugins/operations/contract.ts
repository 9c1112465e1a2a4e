import { type Caller, service } from '#kernel';

/** What an operation is run with, beside its options. */
export interface OperationRun {
  /** The whole data chain by operation key, with `$trigger`, `$last`, `$accountability`, `$env`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** On whose behalf the flow runs; null for nobody. */
  readonly caller: Caller | null;
  readonly flow?: unknown;
}

/** One kind of step in a flow. Options arrive interpolated; a throw takes the reject branch. */
export interface Operation {
  readonly id: string;
  run(options: Readonly<Record<string, unknown>>, context: OperationRun): Promise<unknown>;
  /** Options that are kept encrypted and handed over as references only. */
  readonly secretOptions?: readonly string[];
}

/** Every kind of step that flows can have, those of packages of others included. One namespace. */
export interface Operations {
  /** Answers how to take it away again. A second one of the same id hides neither: both are ambiguous until one leaves. */
  register(owner: string, operation: Operation): () => void;
  /** Undefined where nobody has it, `ambiguous` where several do. */
  find(id: string): Operation | 'ambiguous' | undefined;
  owners(id: string): readonly string[];
  ids(): readonly string[];
}

export const operations = service<Operations>('operations', { version: '1.0.0' });
