import { type ErrorCode, Failure } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import type { PostgresError } from './postgres-error.ts';

/** The statement that PostgreSQL rejected. */
export interface RefusedStatement {
  readonly error: PostgresError;
  readonly collection: Collection;
  readonly action: 'create' | 'update' | 'delete' | undefined;
  /** Fields that the statement sets. */
  readonly written: ReadonlySet<Field>;
}

interface FailureParts {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Whether `path` leads to the row. */
  readonly isLocated: boolean;
}

/** A failure that PostgreSQL caused, with what is needed to find out more about it after the rollback. */
export class StatementRefusal extends Failure {
  readonly #statement: RefusedStatement;
  readonly #isLocated: boolean;

  constructor({ code, detail, extensions, isLocated }: FailureParts, statement: RefusedStatement) {
    super(code, detail, extensions);
    this.#statement = statement;
    this.#isLocated = isLocated;
  }

  // Private members, since PostgreSQL's error contains values and a log line shows all other members.
  get statement(): RefusedStatement {
    return this.#statement;
  }

  get isLocated(): boolean {
    return this.#isLocated;
  }

  with(parts: Partial<FailureParts>): StatementRefusal {
    const { code, detail, extensions } = this;
    return new StatementRefusal({ code, detail, extensions, isLocated: this.#isLocated, ...parts }, this.#statement);
  }
}
