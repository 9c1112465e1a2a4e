import type { Pick, Read } from '../../../query/contract.ts';
import { keptNumber } from './exact.ts';

export interface Column {
  /** The way through nested objects, with dots: `author.name`. */
  readonly name: string;
  readonly path: readonly string[];
}

/** Columns of a table: nested to-one rows are flattened; lists and values of several shapes stay one column each. */
export const columnsOf = (read: Read): readonly Column[] => flat(read.pick, []);

const flat = (picks: readonly Pick[], above: readonly string[]): Column[] =>
  picks.flatMap((pick) => {
    const path = [...above, pick.key];
    if (pick.kind === 'one' && pick.read.pick.length > 0) return flat(pick.read.pick, path);
    return [{ name: path.join('.'), path }];
  });

/** The same, from rows that are all there. */
export function columnsIn(rows: readonly unknown[]): Column[] {
  const found = new Map<string, Column>();
  const look = (value: object, above: readonly string[]) => {
    for (const [key, inner] of Object.entries(value)) {
      const path = [...above, key];
      if (isRecord(inner)) look(inner, path);
      else found.set(path.join('.'), { name: path.join('.'), path });
    }
  };
  for (const row of rows) if (isRecord(row)) look(row, []);
  return [...found.values()];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && keptNumber(value) === undefined;
