import type { ConditionTree, FieldFunction, OrderBy, Projection, ReadNode } from './contract.ts';

/**
 * The shape of a read without any value: `article[id,author[name]] where status._eq sort -date limit 25`. Logs show it, so that equal
 * queries look equal and no data is logged.
 */
export const renderReadForLog = (read: ReadNode): string => `${read.collection.name}${renderNode(read)}`;

function renderNode(read: ReadNode): string {
  const conditions =
    read.where.kind === 'and' && read.where.of.length === 0 ? '' : ` where ${renderWhere(read.where, true)}`;
  const requested = read.order.filter(({ implied }) => !implied);
  return [
    `[${read.aggregate ? renderAggregate(read.aggregate) : read.projections.flatMap(renderProjection).join(',')}]`,
    read.keys ? ' by keys' : '',
    conditions === ' where true' ? '' : conditions,
    read.search === null ? '' : ' search',
    requested.length === 0 ? '' : ` sort ${requested.map(renderOrderBy).join(',')}`,
    read.single || read.limit === null ? '' : ` limit ${read.limit}`,
    read.offset === 0 ? '' : ' offset',
    read.meta.length === 0 ? '' : ` meta ${read.meta.join(',')}`,
  ].join('');
}

const renderFunction = (name: string, fn: FieldFunction | { readonly name: string } | undefined): string =>
  fn ? `${fn.name}(${name})` : name;

function renderProjection(pick: Projection): readonly string[] {
  if (pick.kind === 'constant') return [];
  return pick.kind === 'object' ? pick.projections.flatMap(renderProjection) : [renderField(pick)];
}

function renderField(pick: Exclude<Projection, { kind: 'constant' | 'object' }>): string {
  const { name } = pick.field;
  switch (pick.kind) {
    case 'column':
      return renderFunction(name, pick.fn);
    case 'keys':
      return name;
    case 'any':
      return `${name}{${pick.reads.map(renderReadForLog).join(',')}}`;
    default:
      return `${name}${renderNode({ ...pick.read, limit: pick.kind === 'one' ? null : pick.read.limit })}`;
  }
}

const renderAggregate = ({ groups, functions }: NonNullable<ReadNode['aggregate']>): string =>
  [
    ...groups.map(({ use }) => renderFunction(use.field.name, use.fn)),
    ...functions.map(({ name, use }) => `${name}(${use ? renderFunction(use.field.name, use.fn) : '*'})`),
  ].join(',');

const renderOrderBy = ({ path, use, descending }: OrderBy): string =>
  `${descending ? '-' : ''}${[...path.map((step) => step.use.field.name), renderFunction(use.field.name, use.fn)].join('.')}`;

/** Renders a condition; `alone`: it needs no parentheses. */
function renderWhere(where: ConditionTree, alone = false): string {
  switch (where.kind) {
    case 'and':
    case 'or': {
      // An empty conjunction stands for no condition.
      const members = where.of.filter((one) => !(one.kind === 'and' && one.of.length === 0));
      const [only, ...others] = members;
      if (!only) return String(where.kind === 'and');
      if (others.length === 0) return renderWhere(only, alone);
      const text = members.map((one) => renderWhere(one)).join(where.kind === 'and' ? ' and ' : ' or ');
      return alone ? text : `(${text})`;
    }
    case 'test':
      return `${renderFunction(where.use.field.name, where.use.fn)}.${where.operator}`;
    case 'inside':
      return `${where.use.field.name}.json.${where.operator}`;
    case 'one':
      return `${where.use.field.name}.${renderWhere(where.where)}`;
    case 'many':
      return `${where.use.field.name}._${where.quantifier}.${renderWhere(where.where)}`;
    case 'any':
      return `${where.use.field.name}:${where.to.name}.${renderWhere(where.where)}`;
    case 'reachable':
      return 'reachable';
    case 'fixed':
      return String(where.value);
  }
}
