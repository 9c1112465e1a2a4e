import type { GraphqlSelectionEntry } from '../../plugins/graphql/cases/document-entries.ts';
import type { GraphqlTranslator } from './graphql-translator.ts';
import { parseOptionalFunctionCall } from './reference-conditions.ts';
import type { ListRequest, PermissionTestModel } from './reference-types.ts';

/** Translates a read with `aggregate` or `groupBy` to `<collection>_aggregated`, whose `min` and `max` have numbers only. */
export function translateGroupedReadToGraphql(
  translator: GraphqlTranslator,
  collection: string,
  request: Omit<ListRequest, 'fields'>,
) {
  const { visibleSchema } = translator;
  const { plain } = visibleSchema.model[collection] as PermissionTestModel[string];
  const { filter, limit, offset, groupBy = [] } = request;
  const isNumber = (field: string) => plain[field] === 'number';
  const kept = Object.entries(request.aggregate ?? {}).flatMap(([fn, fields]): [string, readonly string[]][] => {
    const fit = /^(min|max)$/.test(fn) ? fields.filter(isNumber) : fields;
    return fit.length > 0 ? [[fn, fit]] : [];
  });
  const aggregate = Object.fromEntries(kept.length > 0 || groupBy.length > 0 ? kept : [['count', ['*']]]);
  for (const field of Object.values(aggregate).flat()) {
    if (field !== '*' && (!visibleSchema.isReadable(collection, field) || plain[field] === 'masked'))
      translator.hidden = true;
  }
  const sort = [request.sort ?? []].flat().filter((one) => isKept(one.replace('-', ''), groupBy, aggregate));
  const terms = {
    ...(filter ? { filter: translator.filter(collection, filter) } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
    ...(sort.length > 0 ? { sort } : {}),
  };
  const args = {
    ...translator.argumentsOf({ ...terms, sort: sort.map((one) => one.replace(/^(-?)count\.\*$/, '$1countAll')) }),
    groupBy,
    limit: limit ?? -1,
  };
  return {
    args,
    entries: [...groupEntries(groupBy), ...Object.entries(aggregate).map(([fn, fields]) => functionEntry(fn, fields))],
    request: {
      ...terms,
      ...(groupBy.length > 0 ? { groupBy } : {}),
      ...(Object.keys(aggregate).length > 0 ? { aggregate } : {}),
    },
  };
}

const isKept = (
  sort: string,
  groupBy: readonly string[],
  aggregate: NonNullable<ListRequest['aggregate']>,
): boolean => {
  const [fn = '', field = ''] = sort.split('.');
  return groupBy.includes(sort) || (aggregate[fn]?.includes(field) ?? false);
};

const groupEntries = (groupBy: readonly string[]): readonly GraphqlSelectionEntry[] =>
  groupBy.length === 0
    ? []
    : [
        {
          kind: 'groups',
          key: 'group',
          field: 'group',
          of: groupBy.map((name) => {
            const { fn, field } = parseOptionalFunctionCall(name);
            const key = fn ? `${field}_${fn}` : field;
            return { kind: 'column', key, field: key, from: [key] };
          }),
        },
      ];

const functionEntry = (fn: string, fields: readonly string[]): GraphqlSelectionEntry =>
  fields.includes('*')
    ? { kind: 'column', key: 'countAll', field: 'countAll', from: [fn] }
    : {
        kind: 'rows',
        key: fn,
        field: fn,
        from: [fn],
        of: fields.map((field) => ({ kind: 'column', key: field, field, from: [field] })),
      };
