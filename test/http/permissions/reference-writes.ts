import { hasCompositeKey, isPayloadObject, keyInPayload, omitPayloadFields, renderRowKey, withoutKey } from './keys.ts';
import { ReferenceReadExecutor } from './reference-reads.ts';
import {
  type ListRequest,
  type PermissionRow,
  type PermissionTestFilter,
  type PermissionTestModel,
  type PermissionTestPayload,
  type PermissionTestRow,
  ReferenceRefusalError,
} from './reference-types.ts';

export type TestRowKey = string | number;
type List = readonly (TestRowKey | PermissionTestPayload)[];
type Detailed = {
  readonly create?: readonly PermissionTestPayload[];
  readonly update?: readonly PermissionTestPayload[];
  readonly delete?: readonly TestRowKey[];
};

/** A write request. "found" stands for a write to the rows that a query finds, "each" for rows with different payloads. */
export type TestWriteRequest =
  | { readonly verb: 'create'; readonly rows: readonly PermissionTestPayload[] }
  | { readonly verb: 'update'; readonly keys: readonly TestRowKey[]; readonly data: PermissionTestPayload }
  | { readonly verb: 'update each'; readonly rows: readonly PermissionTestPayload[] }
  | { readonly verb: 'update found'; readonly query: Omit<ListRequest, 'fields'>; readonly data: PermissionTestPayload }
  | { readonly verb: 'delete'; readonly keys: readonly TestRowKey[] }
  | { readonly verb: 'delete found'; readonly query: Omit<ListRequest, 'fields'> };

/** The first number that the reference uses as key of a new row; the database uses other numbers. */
const FIRST_NEW = 1_000_000;

/**
 * The part of the in-memory reference that applies writes to `rows`, in the order of the conventions (roles and permissions, 5):
 * row rule on the stored rows, field list, presets, validation, many-to-one rows, the row, to-many rows. If it throws
 * `Refused`, the service must change no row.
 */
export class ReferenceWriteExecutor extends ReferenceReadExecutor {
  /** The kinds of changes to related rows that the write made, for the statistics. */
  readonly steps = new Set<string>();
  private next = FIRST_NEW;

  /** Applies the write to `rows`, and answers the keys of the written rows in the order of the request. */
  run(collection: string, write: TestWriteRequest): readonly TestRowKey[] {
    switch (write.verb) {
      case 'create':
        return this.create(collection, write.rows);
      case 'update':
        return write.keys.length === 0 ? [] : this.update(collection, write.keys, write.data);
      case 'update each':
        return write.rows.flatMap((row) => {
          const key = keyInPayload(this.model, collection, row) as TestRowKey;
          return this.update(collection, [key], withoutKey(this.modelOf(collection), row));
        });
      case 'update found': {
        const keys = this.findKeys(collection, write.query);
        return keys.length === 0 ? [] : this.update(collection, keys, write.data);
      }
      case 'delete':
        return this.remove(collection, write.keys);
      case 'delete found': {
        const keys = this.findKeys(collection, write.query);
        return keys.length === 0 ? [] : this.remove(collection, keys);
      }
    }
  }

  private modelOf(collection: string): PermissionTestModel[string] {
    return this.model[collection] as PermissionTestModel[string];
  }

  private keyOf(collection: string, row: PermissionTestRow): TestRowKey {
    return renderRowKey(this.modelOf(collection), row) as TestRowKey;
  }

  row(collection: string, key: unknown): PermissionTestRow | undefined {
    return this.rows[collection]?.find((row) => String(this.keyOf(collection, row)) === String(key));
  }

  /**
   * The keys of the rows that a write by query changes: the query finds only rows that the caller may read. A query without
   * conditions reveals nothing, so a caller without read permission may send it, too.
   */
  private findKeys(collection: string, query: Omit<ListRequest, 'fields'>): readonly TestRowKey[] {
    const isPlain = !query.search && !query.sort && Object.keys(query.filter ?? {}).length === 0;
    if (isPlain && this.of(collection, 'read').length === 0) {
      const keys = this.sorted(collection, this.rows[collection] ?? [], []).map((row) => this.keyOf(collection, row));
      return keys.slice(query.offset ?? 0, query.limit === undefined ? undefined : (query.offset ?? 0) + query.limit);
    }
    return this.rowsFound(collection, query).map((row) => this.keyOf(collection, row));
  }

  private create(
    collection: string,
    payloads: readonly PermissionTestPayload[],
    platformValues: PermissionTestPayload = {},
  ): readonly TestRowKey[] {
    const validatedRows = payloads.map((payload) =>
      this.writeToOneRows(collection, this.validatedPayload(collection, 'create', payload, platformValues)),
    );
    const { key, plain, manyToOne, manyToAny } = this.modelOf(collection);
    const numbered = hasCompositeKey(this.modelOf(collection)) ? undefined : (key[0] as string);
    const keys = validatedRows.map((row) => {
      const columns = Object.keys({ ...plain, ...manyToOne, ...manyToAny });
      const stored = {
        ...Object.fromEntries(columns.map((name) => [name, row[name] ?? null])),
        ...(numbered ? { [numbered]: row[numbered] ?? this.next++ } : {}),
      };
      this.store(collection, [...(this.rows[collection] ?? []), stored]);
      return this.keyOf(collection, stored);
    });
    for (const [at, row] of validatedRows.entries()) this.writeToManyRows(collection, keys[at] as TestRowKey, row);
    this.assertForeignKeys(collection, keys);
    return keys;
  }

  /** Updates the rows with these keys, and answers their keys after the update. */
  private update(
    collection: string,
    keys: readonly TestRowKey[],
    sent: PermissionTestPayload,
    platformValues: PermissionTestPayload = {},
  ): readonly TestRowKey[] {
    const payload = omitPayloadFields(sent, Object.keys(platformValues));
    if (this.of(collection, 'update').length === 0) throw new ReferenceRefusalError('update');
    for (const key of keys) {
      const row = this.row(collection, key);
      if (!row || !this.isAllowedRow(collection, 'update', row)) throw new ReferenceRefusalError('row');
      for (const field of Object.keys(payload)) {
        const isAllowed = this.of(collection, 'update').some(
          (one) => this.listsField(one, collection, field) && this.allowsRow(collection, one, row),
        );
        if (!isAllowed) throw new ReferenceRefusalError('field');
      }
    }
    const written = this.writeToOneRows(
      collection,
      this.validatedPayload(collection, 'update', payload, platformValues),
    );
    const { toMany } = this.model[collection] as PermissionTestModel[string];
    const own = Object.fromEntries(Object.entries(written).filter(([name]) => !toMany[name]));
    // Writing a many-to-one row may have deleted one of the rows to update.
    if (keys.some((key) => !this.row(collection, key))) throw new ReferenceRefusalError('gone');
    const changed = new Map(
      keys.map((key) => [String(key), { ...(this.row(collection, key) as PermissionTestRow), ...own }] as const),
    );
    const all = (this.rows[collection] ?? []).map((row) => changed.get(String(this.keyOf(collection, row))) ?? row);
    this.store(collection, all);
    const now = keys.map((key) => this.keyOf(collection, changed.get(String(key)) as PermissionTestRow));
    if (now.some((key, at) => key !== keys[at])) this.steps.add('key changed');
    for (const key of now) this.writeToManyRows(collection, key, written);
    this.assertForeignKeys(collection, now);
    return now;
  }

  private remove(collection: string, keys: readonly TestRowKey[]): readonly TestRowKey[] {
    if (this.of(collection, 'delete').length === 0) throw new ReferenceRefusalError('delete');
    for (const key of keys) {
      const row = this.row(collection, key);
      // An admin may delete missing rows without an error.
      if (!row && this.callerPermissions.admin) continue;
      if (!row || !this.isAllowedRow(collection, 'delete', row)) throw new ReferenceRefusalError('row');
    }
    const isGone = (key: unknown) => keys.some((one) => String(one) === String(key));
    this.store(
      collection,
      (this.rows[collection] ?? []).filter((row) => !isGone(this.keyOf(collection, row))),
    );
    this.followKeys(collection, isGone);
    return keys;
  }

  /** Applies the foreign key actions after a delete. */
  private followKeys(collection: string, isGone: (key: unknown) => boolean): void {
    for (const [other, { manyToOne, cascades = [] }] of Object.entries(this.model)) {
      for (const [field, to] of Object.entries(manyToOne)) {
        if (to !== collection) continue;
        const rows = this.rows[other] ?? [];
        const hit = rows.filter((row) => row[field] !== null && isGone(row[field]));
        if (hit.length === 0) continue;
        if (!cascades.includes(field)) {
          this.store(
            other,
            rows.map((row) => (hit.includes(row) ? { ...row, [field]: null } : row)),
          );
          continue;
        }
        this.store(
          other,
          rows.filter((row) => !hit.includes(row)),
        );
        this.followKeys(other, (one) => hit.some((row) => String(this.keyOf(other, row)) === String(one)));
      }
    }
  }

  /** Checks field lists and validations, and adds presets. `platformValues` are foreign keys, which need no permission. */
  private validatedPayload(
    collection: string,
    action: 'create' | 'update',
    sent: PermissionTestPayload,
    platformValues: PermissionTestPayload,
  ): PermissionTestPayload {
    const granted = this.of(collection, action);
    if (granted.length === 0) throw new ReferenceRefusalError(action);
    const payload = omitPayloadFields(sent, Object.keys(platformValues));
    const names = Object.keys(payload);
    if (!names.every((field) => granted.some((one) => this.listsField(one, collection, field))))
      throw new ReferenceRefusalError('field');
    const submitted = { ...payload, ...platformValues };
    const presetsOf = (one: PermissionRow) =>
      Object.fromEntries(Object.entries(one.presets ?? {}).map(([name, value]) => [name, this.dynamic(value, false)]));
    const kept = granted.filter(
      (one) => !one.validation || this.satisfies(one.validation, { ...presetsOf(one), ...submitted }, action),
    );
    // For each field the validation of one permission that lists it must hold.
    if (kept.length === 0 || !names.every((name) => kept.some((one) => this.listsField(one, collection, name))))
      throw new ReferenceRefusalError('validation');
    return Object.assign({}, ...[...kept].reverse().map(presetsOf), submitted);
  }

  /** Whether a payload satisfies a validation. A missing value is valid unless the validation requires the field. */
  private satisfies(rule: PermissionTestFilter, payload: PermissionTestPayload, action: 'create' | 'update'): boolean {
    return Object.entries(rule).every(([name, tests]) => {
      if (name === '_and')
        return (tests as PermissionTestFilter[]).every((one) => this.satisfies(one, payload, action));
      if (name === '_or') return (tests as PermissionTestFilter[]).some((one) => this.satisfies(one, payload, action));
      const isAbsent = payload[name] === undefined;
      return Object.entries(tests as PermissionTestFilter).every(([operator, operand]) => {
        if (operator === '_submitted') return !isAbsent;
        // On a create a missing value is stored as null.
        if (operator === '_null' && operand === false) return isAbsent ? action === 'update' : payload[name] !== null;
        if (isAbsent) return true;
        const value = payload[name];
        const other = this.dynamic(operand, false);
        switch (operator) {
          case '_lt':
            return value !== null && (value as number) < (other as number);
          case '_eq':
            return other !== null && value === other;
          case '_neq':
            return other !== null && value !== other;
          case '_in':
            return (operand as unknown[]).includes(value);
        }
        throw new Error(`the reference knows no ${operator} in a validation`);
      });
    });
  }

  /** Writes the related rows that a payload contains as objects of many-to-one fields, and replaces the objects by their keys. */
  private writeToOneRows(collection: string, payload: PermissionTestPayload): PermissionTestPayload {
    const { manyToOne } = this.model[collection] as PermissionTestModel[string];
    const entries = Object.entries(payload).map(([name, value]) =>
      manyToOne[name] && isPayloadObject(value) ? [name, this.writeRow(manyToOne[name], value)] : [name, value],
    );
    return Object.fromEntries(entries);
  }

  private writeRow(
    collection: string,
    value: PermissionTestPayload,
    platformValues?: PermissionTestPayload,
  ): TestRowKey {
    const key = keyInPayload(
      this.model,
      collection,
      hasCompositeKey(this.modelOf(collection)) ? { ...platformValues, ...value } : value,
    );
    const rest = withoutKey(this.modelOf(collection), value);
    const way = !platformValues
      ? 'to-one'
      : hasCompositeKey(this.modelOf(collection))
        ? 'to-many composite'
        : 'to-many';
    if (key === undefined || !this.row(collection, key)) {
      this.steps.add(`${way} create`);
      return this.create(collection, [value], platformValues)[0] as TestRowKey;
    }
    const isLink = Object.keys(rest).length === 0 && !platformValues;
    this.steps.add(`${way} ${isLink ? 'link' : 'update'}`);
    if (isLink) return key as TestRowKey;
    return this.update(collection, [key as TestRowKey], rest, platformValues)[0] as TestRowKey;
  }

  private writeToManyRows(collection: string, parent: TestRowKey, payload: PermissionTestPayload): void {
    const { toMany } = this.model[collection] as PermissionTestModel[string];
    for (const [name, value] of Object.entries(payload)) {
      if (!toMany[name]) continue;
      if (isPayloadObject(value)) this.writeDetailed(collection, name, parent, value as Detailed);
      else this.writeList(collection, name, parent, (value ?? []) as List);
    }
  }

  private linked(collection: string, field: string, parent: TestRowKey): readonly TestRowKey[] {
    const { to, by } = this.alias(collection, field);
    return (this.rows[to] ?? []).filter((row) => row[by] === parent).map((row) => this.keyOf(to, row));
  }

  /** Writes a list to a to-many alias: related rows that are not in the list are unlinked or deleted. */
  private writeList(collection: string, field: string, parent: TestRowKey, list: List): void {
    const { to, by } = this.alias(collection, field);
    const platformValues = { [by]: parent };
    const before = this.linked(collection, field, parent);
    // An object with nothing but the composite key of a related row keeps this row unchanged.
    const alone = (one: TestRowKey | PermissionTestPayload) => {
      if (
        !isPayloadObject(one) ||
        !hasCompositeKey(this.modelOf(to)) ||
        Object.keys(withoutKey(this.modelOf(to), one)).length > 0
      )
        return undefined;
      return before.find((key) => key === keyInPayload(this.model, to, { ...platformValues, ...one }));
    };
    const entries = list.map((one) => alone(one) ?? one);
    const objects = entries.filter(isPayloadObject).map((one) => this.writeRow(to, one, platformValues));
    const bare = entries.filter((one): one is TestRowKey => !isPayloadObject(one));
    const taken = bare.filter((key) => !before.includes(key));
    if (taken.length > 0) {
      this.steps.add('to-many link');
      this.update(to, taken, {}, platformValues);
    }
    this.deselectAction(
      collection,
      field,
      before.filter((key) => !objects.includes(key) && !bare.includes(key)),
    );
  }

  private writeDetailed(collection: string, field: string, parent: TestRowKey, value: Detailed): void {
    const { to, by } = this.alias(collection, field);
    const platformValues = { [by]: parent };
    for (const one of value.create ?? []) this.create(to, [one], platformValues);
    for (const one of value.update ?? []) this.writeRow(to, one, platformValues);
    const mine = this.linked(collection, field, parent);
    if ((value.delete ?? []).some((key) => !mine.includes(key))) throw new ReferenceRefusalError('not its own');
    this.deselectAction(collection, field, value.delete ?? []);
  }

  private deselectAction(collection: string, field: string, keys: readonly TestRowKey[]): void {
    const { to, by, deselectAction } = this.alias(collection, field);
    if (keys.length === 0) return;
    // A foreign key that is part of the key cannot be null, so the row is deleted.
    const isDeleted = deselectAction === 'delete' || this.modelOf(to).key.includes(by);
    this.steps.add(`deselect by ${isDeleted ? 'delete' : 'nullify'}`);
    if (isDeleted) this.remove(to, keys);
    else this.update(to, keys, {}, { [by]: null });
  }

  /** @throws Refused for a foreign key to a missing row */
  private assertForeignKeys(collection: string, keys: readonly TestRowKey[]): void {
    const { manyToOne } = this.model[collection] as PermissionTestModel[string];
    for (const key of keys) {
      const row = this.row(collection, key);
      for (const [field, to] of Object.entries(manyToOne)) {
        if (row && (row[field] ?? null) !== null && !this.row(to, row[field])) throw new ReferenceRefusalError('link');
      }
    }
  }

  private store(collection: string, rows: readonly PermissionTestRow[]): void {
    const { key } = this.modelOf(collection);
    if (key.length > 1) {
      if (rows.some((row) => key.some((name) => row[name] === null))) throw new ReferenceRefusalError('no key');
      if (new Set(rows.map((row) => this.keyOf(collection, row))).size < rows.length)
        throw new ReferenceRefusalError('not unique');
    }
    this.rows = { ...this.rows, [collection]: rows };
  }
}
