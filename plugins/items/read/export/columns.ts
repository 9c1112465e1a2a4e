import type { Projection, ReadNode } from '../../../query/contract.ts';
import { exactNumberText } from './exact-numbers.ts';

export interface ExportColumn {
  /** The path through nested objects, with dots: `author.name`. */
  readonly name: string;
  readonly path: readonly string[];
}

/**
 * The columns of an exported table, by the fields of the read: nested to-one rows are flattened; lists and many-to-any
 * values stay one column each.
 */
export const exportColumnsOfRead = (read: ReadNode): readonly ExportColumn[] => flattenColumns(read.projections, []);

const flattenColumns = (picks: readonly Projection[], above: readonly string[]): ExportColumn[] =>
  picks.flatMap((pick) => {
    const path = [...above, pick.key];
    if (pick.kind === 'one' && pick.read.projections.length > 0) return flattenColumns(pick.read.projections, path);
    return [{ name: path.join('.'), path }];
  });

/** The columns of an exported table, by the members of rows that are all in memory. */
export function exportColumnsOfRows(rows: readonly unknown[]): ExportColumn[] {
  const found = new Map<string, ExportColumn>();
  const visit = (value: object, above: readonly string[]) => {
    for (const [key, inner] of Object.entries(value)) {
      const path = [...above, key];
      if (isRecord(inner)) visit(inner, path);
      else found.set(path.join('.'), { name: path.join('.'), path });
    }
  };
  for (const row of rows) if (isRecord(row)) visit(row, []);
  return [...found.values()];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && exactNumberText(value) === undefined;
