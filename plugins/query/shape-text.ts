import type { Fn, Order, Pick, Read, Where } from './contract.ts';

/**
 * What a read asks for, without any value: `article[id,author[name]] where status._eq sort -date limit 25`. For logs, so
 * that the same question always looks the same and shows nothing of whom it is about.
 */
export const shapeOf = (read: Read): string => `${read.collection.name}${nodeOf(read)}`;

function nodeOf(read: Read): string {
  const conditions =
    read.where.kind === 'all' && read.where.of.length === 0 ? '' : ` where ${whereOf(read.where, true)}`;
  const asked = read.order.filter(({ implied }) => !implied);
  return [
    `[${read.aggregate ? aggregateOf(read.aggregate) : read.pick.flatMap(pickOf).join(',')}]`,
    read.keys ? ' by keys' : '',
    conditions === ' where true' ? '' : conditions,
    read.search === null ? '' : ' search',
    asked.length === 0 ? '' : ` sort ${asked.map(orderOf).join(',')}`,
    read.single || read.limit === null ? '' : ` limit ${read.limit}`,
    read.offset === 0 ? '' : ' offset',
    read.meta.length === 0 ? '' : ` meta ${read.meta.join(',')}`,
  ].join('');
}

const called = (name: string, fn: Fn | { readonly name: string } | undefined): string =>
  fn ? `${fn.name}(${name})` : name;

function pickOf(pick: Pick): readonly string[] {
  if (pick.kind === 'constant') return [];
  return pick.kind === 'object' ? pick.pick.flatMap(pickOf) : [fieldOf(pick)];
}

function fieldOf(pick: Exclude<Pick, { kind: 'constant' | 'object' }>): string {
  const { name } = pick.field;
  switch (pick.kind) {
    case 'column':
      return called(name, pick.fn);
    case 'keys':
      return name;
    case 'any':
      return `${name}{${pick.reads.map(shapeOf).join(',')}}`;
    default:
      return `${name}${nodeOf({ ...pick.read, limit: pick.kind === 'one' ? null : pick.read.limit })}`;
  }
}

const aggregateOf = ({ groups, functions }: NonNullable<Read['aggregate']>): string =>
  [
    ...groups.map(({ use }) => called(use.field.name, use.fn)),
    ...functions.map(({ name, use }) => `${name}(${use ? called(use.field.name, use.fn) : '*'})`),
  ].join(',');

const orderOf = ({ path, use, descending }: Order): string =>
  `${descending ? '-' : ''}${[...path.map((step) => step.use.field.name), called(use.field.name, use.fn)].join('.')}`;

/** `alone`: nothing stands around it that would need brackets. */
function whereOf(where: Where, alone = false): string {
  switch (where.kind) {
    case 'all':
    case 'either': {
      // No condition at all is an empty `all`.
      const members = where.of.filter((one) => !(one.kind === 'all' && one.of.length === 0));
      const [only, ...others] = members;
      if (!only) return String(where.kind === 'all');
      if (others.length === 0) return whereOf(only, alone);
      const text = members.map((one) => whereOf(one)).join(where.kind === 'all' ? ' and ' : ' or ');
      return alone ? text : `(${text})`;
    }
    case 'test':
      return `${called(where.use.field.name, where.use.fn)}.${where.operator}`;
    case 'inside':
      return `${where.use.field.name}.json.${where.operator}`;
    case 'one':
      return `${where.use.field.name}.${whereOf(where.where)}`;
    case 'many':
      return `${where.use.field.name}._${where.quantifier}.${whereOf(where.where)}`;
    case 'any':
      return `${where.use.field.name}:${where.to.name}.${whereOf(where.where)}`;
    case 'fixed':
      return String(where.value);
  }
}
