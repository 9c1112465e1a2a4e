import {
  type GraphqlSelectionEntry,
  InexpressibleInGraphqlError,
} from '../../plugins/graphql/cases/document-entries.ts';
import type { ExpectedGraphqlSchema } from './expected-graphql-schema.ts';
import { hasCompositeKey, requireSingleKeyColumn } from './keys.ts';
import { tableNameOfCollection } from './permission-test-collections.ts';
import {
  isRelatedCondition,
  parseFollowOperator,
  parseManyToAnyName,
  parseOptionalFunctionCall,
} from './reference-conditions.ts';
import type {
  FieldTree,
  ListParameters,
  ListRequest,
  PermissionTestFilter,
  PermissionTestModel,
} from './reference-types.ts';

export const SKIPPED_FOLLOW_REASON = 'a relation without a field, followed backwards';

interface TranslatedFields {
  /** The requested fields in the format of the in-memory reference. */
  readonly nested: FieldTree;
  readonly deep: NonNullable<ListParameters['deep']>;
  readonly entries: readonly GraphqlSelectionEntry[];
}

/**
 * Translates requests to a form that both GraphQL and the reference accept: bare keys of relations become objects with a key, and
 * operators on relations become conditions on the related key. Unreadable fields are left out, unless `includeForbidden` is set.
 */
export class GraphqlTranslator {
  /** Whether the translated request names a field that the schema of the person does not have. */
  hidden = false;
  readonly visibleSchema: ExpectedGraphqlSchema;
  private readonly includeForbidden: boolean;

  constructor(visibleSchema: ExpectedGraphqlSchema, includeForbidden: boolean) {
    this.visibleSchema = visibleSchema;
    this.includeForbidden = includeForbidden;
  }

  translateFields(
    collection: string,
    fields: FieldTree,
    deep: NonNullable<ListParameters['deep']> = {},
  ): TranslatedFields {
    const { manyToOne, toMany, manyToAny = {} } = this.of(collection);
    const nested: Record<string, true | FieldTree> = {};
    const below: Record<string, ListParameters> = {};
    const entries: GraphqlSelectionEntry[] = [];
    const names = '*' in fields ? this.visibleSchema.all(collection) : Object.keys(fields);
    const take = (field: string, to: string, more: true | FieldTree, parameters?: ListParameters) => {
      const inner = this.translateFields(to, more === true ? this.keyNested(to) : more, deep[field]?.deep);
      nested[field] = inner.nested;
      below[field] = { ...parameters, deep: inner.deep };
      const args = parameters ? this.argumentsOf(parameters) : {};
      entries.push({ kind: 'rows', key: field, field, from: [field], args, of: inner.entries });
    };
    for (const name of names) {
      const more = fields[name] ?? true;
      const { fn, field } = parseOptionalFunctionCall(parseManyToAnyName(name)?.field ?? name);
      const to = toMany[field]?.to ?? manyToOne[field];
      const isShown =
        this.visibleSchema.isReadable(collection, field) &&
        (!toMany[field] || this.visibleSchema.hasReadableType(to as string));
      if (!isShown) {
        if (this.includeForbidden) entries.push(this.forbiddenEntry(collection, field, fn));
      } else if (fn) {
        nested[name] = true;
        addFunction(entries, field, fn);
      } else if (manyToAny[field]) {
        const manyToAnyEntry = this.manyToAnyEntry(collection, field, fields, deep);
        if (manyToAnyEntry && !entries.some(({ key }) => key === field)) {
          Object.assign(nested, manyToAnyEntry.nested);
          Object.assign(below, manyToAnyEntry.deep);
          entries.push(manyToAnyEntry.entry);
        }
      } else if (toMany[field]) take(field, to as string, more, this.parameters(to as string, deep[field] ?? {}));
      else if (to && this.visibleSchema.hasReadableType(to)) take(field, to, more);
      else if (!to || more === true) {
        nested[field] = true;
        entries.push(this.columnEntry(collection, field));
      }
    }
    const typename: GraphqlSelectionEntry = {
      kind: 'typename',
      key: '__typename',
      type: tableNameOfCollection(collection),
    };
    return { nested, deep: below, entries: entries.length > 0 ? entries : [typename] };
  }

  /** Translates the parameters of a list. Groups of related rows are left out, since GraphQL does not have them. */
  parameters(
    collection: string,
    { filter, sort, search, limit, offset, aggregate, groupBy }: ListParameters,
  ): ListParameters {
    const isGroups = aggregate !== undefined || groupBy !== undefined;
    return {
      ...(filter ? { filter: this.filter(collection, filter) } : {}),
      ...(sort && !isGroups ? { sort } : {}),
      ...(search === undefined ? {} : { search }),
      ...(limit === undefined || isGroups ? {} : { limit }),
      ...(offset === undefined || isGroups ? {} : { offset }),
    };
  }

  argumentsOf({ filter, sort, search, limit, offset }: Omit<ListRequest, 'fields'>): Record<string, unknown> {
    return { ...(filter ? { filter: toGraphqlFilterInput(filter) } : {}), sort, search, limit, offset };
  }

  filter(collection: string, filter: PermissionTestFilter): PermissionTestFilter {
    return Object.fromEntries(
      Object.entries(filter).map(([name, rule]) =>
        name === '_and' || name === '_or'
          ? [name, (rule as PermissionTestFilter[]).map((one) => this.filter(collection, one))]
          : this.rule(collection, name, rule as PermissionTestFilter),
      ),
    );
  }

  private rule(collection: string, name: string, rule: PermissionTestFilter): [string, PermissionTestFilter] {
    const { manyToOne, toMany } = this.of(collection);
    if (parseFollowOperator(name)) throw new InexpressibleInGraphqlError(SKIPPED_FOLLOW_REASON);
    const manyToAnyEntry = parseManyToAnyName(name);
    const { fn, field } = parseOptionalFunctionCall(manyToAnyEntry?.field ?? name);
    const to = manyToAnyEntry?.to ?? toMany[field]?.to ?? manyToOne[field];
    const isOpen = to !== undefined && this.visibleSchema.hasReadableType(to);
    if (!this.visibleSchema.isReadable(collection, field) || ((manyToAnyEntry || toMany[field]) && !isOpen))
      this.hidden = true;
    if (manyToAnyEntry) return [name, this.filter(manyToAnyEntry.to, rule)];
    if (fn || !to) return [name, rule];
    if (toMany[field]) return [name, this.toManyRule(to, rule)];
    if (Object.keys(rule).some(isRelatedCondition)) {
      if (!isOpen) this.hidden = true;
      return [name, this.filter(to, rule)];
    }
    if (!isOpen) return [name, rule];
    const key = requireSingleKeyColumn(this.of(to));
    if (!this.visibleSchema.isReadable(to, key)) this.hidden = true;
    return [name, { [key]: rule }];
  }

  private toManyRule(to: string, rule: PermissionTestFilter): PermissionTestFilter {
    return Object.fromEntries(
      Object.entries(rule).flatMap(([word, inner]): [string, unknown][] => {
        if (word === '_null') return [[inner ? '_none' : '_some', {}]];
        if (word === '_some' || word === '_none') return [[word, this.filter(to, inner as PermissionTestFilter)]];
        return Object.entries(this.filter(to, { [word]: inner }));
      }),
    );
  }

  private columnEntry(collection: string, field: string): GraphqlSelectionEntry {
    const isKey = !hasCompositeKey(this.of(collection)) && this.of(collection).key.includes(field);
    return { kind: 'column', key: field, field, from: [field], ...(isKey ? { as: 'text' } : {}) };
  }

  /** Translates a many-to-any field. A row of a collection of which no fields are requested becomes an empty object. */
  private manyToAnyEntry(
    collection: string,
    field: string,
    fields: FieldTree,
    deep: NonNullable<ListParameters['deep']>,
  ) {
    const { to = [] } = this.of(collection).manyToAny?.[field] ?? {};
    const readableCollections = to.filter((name) => this.visibleSchema.hasReadableType(name));
    if (readableCollections.length === 0) {
      const isBare = fields[field] !== undefined || '*' in fields;
      return isBare
        ? { nested: { [field]: true as const }, deep: {}, entry: this.columnEntry(collection, field) }
        : undefined;
    }
    const of = new Map<string, readonly GraphqlSelectionEntry[]>();
    const nested: Record<string, FieldTree> = {};
    const below: Record<string, ListParameters> = {};
    for (const name of readableCollections) {
      const requestedFields =
        fields[`${field}:${name}`] ?? (fields[field] || '*' in fields ? this.keyNested(name) : {});
      const inner = this.translateFields(
        name,
        requestedFields === true ? {} : (requestedFields as FieldTree),
        deep[`${field}:${name}`]?.deep,
      );
      const isRequested = inner.entries.every(({ kind }) => kind !== 'typename');
      nested[`${field}:${name}`] = isRequested ? inner.nested : {};
      below[`${field}:${name}`] = { deep: inner.deep };
      if (isRequested) of.set(tableNameOfCollection(name), inner.entries);
    }
    if (of.size === 0) return undefined;
    return {
      nested,
      deep: below,
      entry: { kind: 'any', key: field, field, from: [field], of, unasked: new Set<string>() } as const,
    };
  }

  private keyNested(collection: string): FieldTree {
    return Object.fromEntries(this.of(collection).key.map((columnEntry) => [columnEntry, true as const]));
  }

  private forbiddenEntry(collection: string, field: string, fn: string | undefined): GraphqlSelectionEntry {
    this.hidden = true;
    const { manyToOne, toMany, manyToAny = {} } = this.of(collection);
    const isRow =
      !fn && (manyToOne[field] !== undefined || toMany[field] !== undefined || manyToAny[field] !== undefined);
    const typename: GraphqlSelectionEntry = { kind: 'typename', key: '__typename', type: '' };
    if (fn) return { kind: 'functions', key: `${field}_func`, field: `${field}_func`, of: [functionOf(field, fn)] };
    return isRow
      ? { kind: 'rows', key: field, field, from: [field], of: [typename] }
      : { kind: 'column', key: field, field, from: [field] };
  }

  private of(collection: string): PermissionTestModel[string] {
    return this.visibleSchema.model[collection] as PermissionTestModel[string];
  }
}

const functionOf = (field: string, fn: string): GraphqlSelectionEntry => ({
  kind: 'column',
  key: fn,
  field: fn,
  from: [`${field}_${fn}`],
});

function addFunction(entries: GraphqlSelectionEntry[], field: string, fn: string): void {
  const key = `${field}_func`;
  const at = entries.findIndex((entry) => entry.key === key);
  const before = entries[at];
  if (before?.kind === 'functions') entries[at] = { ...before, of: [...before.of, functionOf(field, fn)] };
  else entries.push({ kind: 'functions', key, field: key, of: [functionOf(field, fn)] });
}

/** Renames the fields of a REST filter for GraphQL: `year(born)` to `born_func: { year }`, `item:tag` to `item__tag`. */
export function toGraphqlFilterInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toGraphqlFilterInput);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, rule]) => {
      const { fn, field } = parseOptionalFunctionCall(name);
      return fn
        ? [`${field}_func`, { [fn]: toGraphqlFilterInput(rule) }]
        : [name.replace(':', '__'), toGraphqlFilterInput(rule)];
    }),
  );
}
