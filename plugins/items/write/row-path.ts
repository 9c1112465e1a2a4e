import { Failure, Failures, fail } from '#kernel';
import { StatementRefusal } from './statement-refusal.ts';

/**
 * The path from the root of a request to a row: the row's index in a list, then relation fields and indexes, such as
 * `[3, "comments", 0]`. Empty for the one row of a request.
 */
export type RequestRowPath = readonly (string | number)[];

/**
 * The same failure, with the path of its row before its own `path` (conventions, errors 3). Failures without a `path`
 * are returned unchanged.
 */
export function prefixErrorPath(path: RequestRowPath, error: unknown): unknown {
  if (path.length === 0) return error;
  if (error instanceof Failures)
    return new Failures(error.failures.map((one) => prefixErrorPath(path, one) as Failure));
  if (!(error instanceof Failure) || !Array.isArray(error.extensions.path)) return error;
  const extensions = { ...error.extensions, path: [...path, ...error.extensions.path] };
  return error instanceof StatementRefusal ? error.with({ extensions }) : fail(error.code, error.detail, extensions);
}

/** A failure about an unknown one of several rows: its path has the relation fields that lead to all of them. */
export const prefixCommonErrorPath = (paths: readonly RequestRowPath[], error: unknown): unknown =>
  prefixErrorPath(
    (paths[0] ?? []).filter((part) => typeof part === 'string'),
    error,
  );
