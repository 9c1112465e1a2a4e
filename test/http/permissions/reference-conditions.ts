import { renderRowKey, requireSingleKeyColumn } from './keys.ts';
import type {
  CallerPermissions,
  PermissionRow,
  PermissionTestFilter,
  PermissionTestModel,
  PermissionTestRow,
  PermissionTestRowsByCollection,
  ToManyField,
} from './reference-types.ts';

const NEGATED = new Set(['_neq', '_nin', '_ncontains', '_nbetween']);

/**
 * The part of the in-memory reference that evaluates filters and rules with plain loops, without code of the service. A
 * comparison with a dynamic value that the caller does not have is `undefined`. With `asCaller` (the filter of a request)
 * unreadable rows and fields do not exist; without (the rule of a permission) they do.
 */
export class ReferenceFilterEvaluator {
  readonly model: PermissionTestModel;
  rows: PermissionTestRowsByCollection;
  readonly callerPermissions: CallerPermissions;
  readonly now = Date.now();

  constructor(model: PermissionTestModel, rows: PermissionTestRowsByCollection, callerPermissions: CallerPermissions) {
    this.model = model;
    this.rows = rows;
    this.callerPermissions = callerPermissions;
  }

  of(collection: string, action: string): readonly PermissionRow[] {
    if (this.callerPermissions.admin) return [{ rule: null, fields: this.all(collection) }];
    return this.callerPermissions.permissions.get(`${collection} ${action}`) ?? [];
  }

  /** The names of all fields of a collection. */
  all(collection: string): readonly string[] {
    const { key, plain, manyToOne, toMany, manyToAny } = this.model[collection] as PermissionTestModel[string];
    return [...new Set([...key, ...Object.keys({ ...plain, ...manyToOne, ...toMany, ...manyToAny })])];
  }

  alias(collection: string, field: string): ToManyField {
    return (this.model[collection] as PermissionTestModel[string]).toMany[field] as ToManyField;
  }

  manyToAnyField(collection: string, field: string): { readonly by: string } {
    return (this.model[collection] as PermissionTestModel[string]).manyToAny?.[field] as { readonly by: string };
  }

  listsField(one: PermissionRow, collection: string, field: string): boolean {
    if (one.fields.includes(field)) return true;
    return one.fields.includes('*') && !this.model[collection]?.sensitive?.includes(field);
  }

  /** Whether one of the caller's permissions for the action has a rule that allows the row. */
  isAllowedRow(collection: string, action: string, row: PermissionTestRow): boolean {
    return this.of(collection, action).some((one) => this.allowsRow(collection, one, row));
  }

  allowsRow(collection: string, one: PermissionRow, row: PermissionTestRow): boolean {
    if (this.callerPermissions.isReachable?.(collection, row) === false) return false;
    return !one.rule || this.matches(collection, one.rule, row, false) === true;
  }

  isReadable(collection: string, field: string): boolean {
    return this.of(collection, 'read').some((one) => this.listsField(one, collection, field));
  }

  isReadableOn(collection: string, field: string, row: PermissionTestRow): boolean {
    return this.of(collection, 'read').some(
      (one) => this.listsField(one, collection, field) && this.allowsRow(collection, one, row),
    );
  }

  /** The value of a field or of a function of a field; null if the caller may not read the field on this row. */
  value(collection: string, name: string, row: PermissionTestRow, asCaller: boolean): unknown {
    const { fn, field } = parseOptionalFunctionCall(name);
    const { key, toMany } = this.model[collection] as PermissionTestModel[string];
    if (asCaller && !this.isReadableOn(collection, field, row)) return null;
    if (!fn) return row[field] ?? null;
    if (fn === 'count') {
      const isMissing = row[key[0] as string] === undefined || !toMany[field];
      return isMissing ? null : this.children(collection, field, row, asCaller).length;
    }
    return part(fn, row[field]);
  }

  target(collection: string, field: string, row: PermissionTestRow, asCaller: boolean): PermissionTestRow | undefined {
    const to = this.model[collection]?.manyToOne[field] as string;
    return this.found(to, this.value(collection, field, row, asCaller), asCaller);
  }

  /** The related row of a many-to-any field; undefined unless it is a row of the collection `to`. */
  manyToAnyTarget(
    collection: string,
    field: string,
    to: string,
    row: PermissionTestRow,
    asCaller: boolean,
  ): PermissionTestRow | undefined {
    const { by } = this.manyToAnyField(collection, field);
    if (row[by] !== to) return undefined;
    return this.found(to, this.value(collection, field, row, asCaller), asCaller);
  }

  private found(to: string, id: unknown, asCaller: boolean): PermissionTestRow | undefined {
    const model = this.model[to] as PermissionTestModel[string];
    const found = this.rows[to]?.find((one) => id !== null && String(renderRowKey(model, one)) === String(id));
    return found && (!asCaller || this.isAllowedRow(to, 'read', found)) ? found : undefined;
  }

  /** The rows that refer to this row by a to-many alias or by `$FOLLOW`. */
  children(collection: string, name: string, row: PermissionTestRow, asCaller: boolean): readonly PermissionTestRow[] {
    const model = this.model[collection] as PermissionTestModel[string];
    const back = parseFollowOperator(name);
    const { to, by } = back ?? (model.toMany[name] as { to: string; by: string });
    if (asCaller && !back && !this.isReadableOn(collection, name, row)) return [];
    const key = requireSingleKeyColumn(model);
    const mine = (this.rows[to] ?? []).filter(
      (one) =>
        row[key] !== undefined &&
        one[by] !== null &&
        String(one[by]) === String(row[key]) &&
        (!back?.kind || one[back.kind] === collection),
    );
    return asCaller ? mine.filter((one) => this.isAllowedRow(to, 'read', one)) : mine;
  }

  /** Whether a row matches a filter; undefined if the filter compares with a dynamic value that the caller does not have. */
  matches(
    collection: string,
    filter: PermissionTestFilter,
    row: PermissionTestRow,
    asCaller: boolean,
  ): boolean | undefined {
    return every(
      this.conjunction(collection, filter).map(([name, rule]) =>
        name === '_or'
          ? some((rule as PermissionTestFilter[]).map((one) => this.matches(collection, one, row, asCaller)))
          : this.matchesRule(collection, name, rule as PermissionTestFilter, row, asCaller),
      ),
    );
  }

  /**
   * The conditions that a row must all match. Those on the same to-many alias are merged, since one related row must match all
   * of them; `_some` and `_none` stay separate.
   */
  private conjunction(collection: string, filter: PermissionTestFilter): readonly (readonly [string, unknown])[] {
    const parts: [string, unknown][] = [];
    const bare = new Map<string, PermissionTestFilter[]>();
    const add = (one: PermissionTestFilter): void => {
      for (const [name, rule] of Object.entries(one)) {
        if (name === '_and') for (const part of rule as PermissionTestFilter[]) add(part);
        else if (name === '_or' || !this.isMany(collection, name)) parts.push([name, rule]);
        else {
          for (const [word, operand] of Object.entries(rule as PermissionTestFilter)) {
            if (word === '_some' || word === '_none' || word === '_null') parts.push([name, { [word]: operand }]);
            else bare.set(name, [...(bare.get(name) ?? []), { [word]: operand }]);
          }
        }
      }
    };
    add(filter);
    return [...parts, ...[...bare].map(([name, all]) => [name, { _same: all }] as const)];
  }

  isMany = (collection: string, name: string): boolean =>
    parseFollowOperator(name) !== undefined || this.model[collection]?.toMany[name] !== undefined;

  private matchesRule(
    collection: string,
    name: string,
    rule: PermissionTestFilter,
    row: PermissionTestRow,
    asCaller: boolean,
  ): boolean | undefined {
    const { manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    const [operator = ''] = Object.keys(rule);
    if (this.isMany(collection, name)) {
      const to = parseFollowOperator(name)?.to ?? (toMany[name]?.to as string);
      const kids = this.children(collection, name, row, asCaller);
      if (operator === '_null') return (kids.length === 0) === rule._null;
      const inner = (operator === '_same' ? { _and: rule._same } : rule[operator]) as PermissionTestFilter;
      const found = kids.some((one) => this.matches(to, inner, one, asCaller) === true);
      if (operator !== '_none') return found;
      return this.usesMissingValue(inner, asCaller) ? undefined : !found;
    }
    const any = parseManyToAnyName(name);
    if (any) {
      const found = this.manyToAnyTarget(collection, any.field, any.to, row, asCaller);
      return found !== undefined && this.matches(any.to, rule, found, asCaller) === true;
    }
    if (manyToOne[name] && isRelatedCondition(operator)) {
      // A missing or unreadable row counts as a row of nulls.
      const found = this.target(collection, name, row, asCaller);
      return this.matches(manyToOne[name], rule, found ?? {}, asCaller);
    }
    const value = this.value(collection, name, row, asCaller);
    return every(Object.entries(rule).map(([word, operand]) => this.matchesOperator(word, value, operand, asCaller)));
  }

  private matchesOperator(operator: string, value: unknown, operand: unknown, asCaller: boolean): boolean | undefined {
    if (operator === '_null') return (value === null) === operand;
    if (operator === '_empty') return (value === null || value === '') === operand;
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.some((one) => this.hasNoValue(one, asCaller)) && NEGATED.has(operator)) return undefined;
    const list = operands.flatMap((one) => this.dynamic(one, asCaller));
    if (NEGATED.has(operator) ? list.includes(null) : list.every((one) => one === null)) return undefined;
    if (value === null) return false;
    const [first, second] = list;
    switch (operator) {
      case '_eq':
        return same(value, first);
      case '_neq':
        return !same(value, first);
      case '_in':
        return list.some((one) => same(value, one));
      case '_nin':
        return !list.some((one) => same(value, one));
      case '_gt':
        return compareScalarValues(value, first) > 0;
      case '_lt':
        return compareScalarValues(value, first) < 0;
      case '_between':
        return second !== null && compareScalarValues(value, first) >= 0 && compareScalarValues(value, second) <= 0;
      case '_nbetween':
        return compareScalarValues(value, first) < 0 || compareScalarValues(value, second) > 0;
      case '_contains':
        return String(value).includes(String(first));
      case '_ncontains':
        return !String(value).includes(String(first));
      case '_starts_with':
        return String(value).startsWith(String(first));
    }
    throw new Error(`the reference knows no ${operator}`);
  }

  /** Resolves a dynamic value such as `$NOW`; a path through a to-many alias gives a list. Other values are unchanged. */
  dynamic(value: unknown, asCaller: boolean): unknown {
    if (typeof value !== 'string' || !value.startsWith('$')) return value;
    if (value === '$NOW') return new Date(this.now);
    const [who, ...path] = value.split('.');
    const id = who === '$CURRENT_USER' ? this.callerPermissions.user : this.callerPermissions.role;
    if (path.length === 0) return id;
    let at = who === '$CURRENT_USER' ? 'users' : 'roles';
    let rows: readonly PermissionTestRow[] = [this.found(at, id, asCaller)].filter((one) => one !== undefined);
    let isSeveral = false;
    for (const [depth, name] of path.entries()) {
      const { manyToOne, toMany }: PermissionTestModel[string] = this.model[at] as PermissionTestModel[string];
      if (depth === path.length - 1 && !toMany[name]) {
        const values = rows.map((row) => this.value(at, name, row, asCaller));
        return isSeveral ? values : (values[0] ?? null);
      }
      const from = at;
      rows = rows.flatMap((row): readonly PermissionTestRow[] => {
        if (toMany[name]) return this.children(from, name, row, asCaller);
        const target = this.target(from, name, row, asCaller);
        return target ? [target] : [];
      });
      isSeveral ||= toMany[name] !== undefined;
      at = toMany[name]?.to ?? (manyToOne[name] as string);
    }
    // A path that ends with a to-many alias stands for the keys of the related rows.
    const key = requireSingleKeyColumn(this.model[at] as PermissionTestModel[string]);
    return rows.map((row) => this.value(at, key, row, asCaller));
  }

  private hasNoValue(value: unknown, asCaller: boolean): boolean {
    if (typeof value !== 'string' || !value.startsWith('$CURRENT_')) return false;
    if ((value.startsWith('$CURRENT_USER') ? this.callerPermissions.user : this.callerPermissions.role) === null)
      return true;
    return this.dynamic(value, asCaller) === null;
  }

  private usesMissingValue(filter: unknown, asCaller: boolean): boolean {
    if (typeof filter === 'string') return this.hasNoValue(filter, asCaller);
    if (typeof filter !== 'object' || filter === null) return false;
    return Object.values(filter).some((one) => this.usesMissingValue(one, asCaller));
  }
}

/** Parses `count(tasks)` to the function and the field. */
export function parseOptionalFunctionCall(name: string): { readonly fn?: string; readonly field: string } {
  const [, fn, field] = /^(\w+)\((\w+)\)$/.exec(name) ?? [];
  return fn && field ? { fn, field } : { field: name };
}

/** Parses `item:tag` to the field and the collection. */
export function parseManyToAnyName(name: string): { readonly field: string; readonly to: string } | undefined {
  const [field, to] = name.split(':');
  return field && to ? { field, to } : undefined;
}

/** Parses `$FOLLOW(task, person)` to the collection and its foreign key. */
export function parseFollowOperator(name: string): { to: string; by: string; kind?: string } | undefined {
  const [, to, by, kind] = /^\$FOLLOW\((\w+), ?(\w+)(?:, ?(\w+))?\)$/.exec(name) ?? [];
  return to && by ? { to, by, ...(kind ? { kind } : {}) } : undefined;
}

/** Whether a member of the filter of a relation is a condition on fields of the related row, not an operator on the key. */
export const isRelatedCondition = (operator: string): boolean =>
  !operator.startsWith('_') || operator === '_and' || operator === '_or';

function part(fn: string, value: unknown): number | null {
  if (!(value instanceof Date)) return null;
  const parts: Record<string, number> = {
    year: value.getUTCFullYear(),
    month: value.getUTCMonth() + 1,
    day: value.getUTCDate(),
    weekday: value.getUTCDay(),
    hour: value.getUTCHours(),
  };
  return parts[fn] as number;
}

const same = (a: unknown, b: unknown): boolean => b !== null && compareScalarValues(a, b) === 0;

export const compareScalarValues = (a: unknown, b: unknown): number => {
  const [left, right] = [a, b].map((one) => (one instanceof Date ? one.getTime() : one)) as [never, never];
  return left < right ? -1 : left > right ? 1 : 0;
};

const every = (parts: readonly (boolean | undefined)[]) =>
  parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
const some = (parts: readonly (boolean | undefined)[]) =>
  parts.length === 0 || parts.includes(true) ? true : parts.includes(undefined) ? undefined : false;
