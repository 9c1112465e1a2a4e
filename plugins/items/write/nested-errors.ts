import { Failure, Failures, fail } from '#kernel';
import type { Field } from '../../schema/contract.ts';
import type { Inner } from './inner.ts';

/** The same verbs, whose complaints about a row say which relation field leads to it (conventions, errors 3). */
export function below(inner: Inner, field: Field): Inner {
  const placed = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw under(field.name, error);
    }
  };
  return {
    create: (...args) => placed(inner.create(...args)),
    update: (...args) => placed(inner.update(...args)),
    remove: (...args) => placed(inner.remove(...args)),
  };
}

export function under(name: string, error: unknown): unknown {
  if (error instanceof Failures) return new Failures(error.failures.map((one) => under(name, one) as Failure));
  if (!(error instanceof Failure) || !Array.isArray(error.extensions.path)) return error;
  return fail(error.code, error.detail, { ...error.extensions, path: [name, ...error.extensions.path] });
}
