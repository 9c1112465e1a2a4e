import { renderRowKey } from './keys.ts';
import { ReferenceFilterEvaluator } from './reference-conditions.ts';
import type { CallerPermissions, PermissionTestModel, PermissionTestRow } from './reference-types.ts';

/** Relations on one path from a shared item, as ADR 52 has it. */
const MAX_RELATIONS = 6;

/** A way to related rows: the field, its collection, and the rows that it leads to from one row. */
interface Way {
  readonly field: string;
  readonly to: string;
  readonly rows: (row: PermissionTestRow) => readonly PermissionTestRow[];
}

/**
 * The rows that visitors of a share may read, computed with plain loops over rows in memory: the shared item, and each row on a path of
 * readable relations and readable rows. A path that comes to a collection it has been to ends there.
 */
export class ReferenceReachability extends ReferenceFilterEvaluator {
  readonly #found = new Set<PermissionTestRow>();
  readonly #collections = new Set<string>();

  /** @param role the permissions of the share's role, for a caller without a user */
  static ofItem(
    model: PermissionTestModel,
    rows: ReferenceFilterEvaluator['rows'],
    role: CallerPermissions,
    collection: string,
    key: unknown,
  ): ReferenceReachability {
    const reachability = new ReferenceReachability(model, rows, role);
    const isItem = (row: PermissionTestRow) =>
      String(renderRowKey(model[collection] as PermissionTestModel[string], row)) === String(key);
    const start = (rows[collection] ?? []).filter(isItem);
    if (reachability.of(collection, 'read').length > 0)
      reachability.visit(
        collection,
        start.filter((row) => reachability.isAllowedRow(collection, 'read', row)),
        [],
        undefined,
      );
    return reachability;
  }

  isReachable = (_collection: string, row: PermissionTestRow): boolean => this.#found.has(row);

  /** Collections that a path leads to, whether or not it finds a row there. */
  get collections(): ReadonlySet<string> {
    return this.#collections;
  }

  get size(): number {
    return this.#found.size;
  }

  /** `cameBy`: the foreign key of these rows to the rows before them, which needs not be followed back. */
  private visit(
    collection: string,
    rows: readonly PermissionTestRow[],
    path: readonly string[],
    cameBy: string | undefined,
  ): void {
    this.#collections.add(collection);
    for (const row of rows) this.#found.add(row);
    if (path.includes(collection) || path.length >= MAX_RELATIONS) return;
    for (const { field, to, rows: related } of this.ways(collection)) {
      if (field === cameBy || !this.isReadable(collection, field) || this.of(to, 'read').length === 0) continue;
      const next = new Set(rows.flatMap((row) => related(row)).filter((row) => this.isAllowedRow(to, 'read', row)));
      const by = this.model[collection]?.toMany[field]?.by;
      this.visit(to, [...next], [...path, collection], by);
    }
  }

  private ways(collection: string): readonly Way[] {
    const { manyToOne, toMany, manyToAny = {} } = this.model[collection] as PermissionTestModel[string];
    const one = (row: PermissionTestRow | undefined) => (row ? [row] : []);
    return [
      ...Object.entries(manyToOne).map(([field, to]) => ({
        field,
        to,
        rows: (row: PermissionTestRow) => one(this.target(collection, field, row, false)),
      })),
      ...Object.entries(toMany).map(([field, { to }]) => ({
        field,
        to,
        rows: (row: PermissionTestRow) => this.children(collection, field, row, false),
      })),
      ...Object.entries(manyToAny).flatMap(([field, { to: targets }]) =>
        targets.map((to) => ({
          field,
          to,
          rows: (row: PermissionTestRow) => one(this.manyToAnyTarget(collection, field, to, row, false)),
        })),
      ),
    ];
  }
}
