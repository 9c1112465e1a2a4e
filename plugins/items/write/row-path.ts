import { Failure, Failures, fail } from '#kernel';
import { Refusal } from './refusal.ts';

/**
 * The way from the root of a request to a row: the row's index in a list, then relation fields and indexes, such as
 * `[3, "comments", 0]`. Empty for the one row of a request.
 */
export type RowPath = readonly (string | number)[];

/** The same failure, whose `path` begins with that of its row (conventions, errors 3). Failures without a `path` stay as they are. */
export function under(path: RowPath, error: unknown): unknown {
  if (path.length === 0) return error;
  if (error instanceof Failures) return new Failures(error.failures.map((one) => under(path, one) as Failure));
  if (!(error instanceof Failure) || !Array.isArray(error.extensions.path)) return error;
  const extensions = { ...error.extensions, path: [...path, ...error.extensions.path] };
  return error instanceof Refusal ? error.with({ extensions }) : fail(error.code, error.detail, extensions);
}

/** A failure about one of several rows, it is not known which: the relation fields that lead to all of them. */
export const underAny = (paths: readonly RowPath[], error: unknown): unknown =>
  under(
    (paths[0] ?? []).filter((part) => typeof part === 'string'),
    error,
  );
