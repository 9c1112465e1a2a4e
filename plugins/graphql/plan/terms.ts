import { type FieldNode, type GraphQLField, getArgumentValues, getNamedType, isInputObjectType } from 'graphql';
import type { RawQuery, Terms } from '../../query/contract.ts';
import { originalsIn } from '../schema/aliases.ts';
import type { Reading } from './collect.ts';
import { filterOf } from './filter.ts';

const PLAIN = ['sort', 'limit', 'offset', 'page', 'search', 'groupBy'] as const;

/** Of fields, which may be called as in GraphQL or as in REST. */
const PATHS: ReadonlySet<string> = new Set(['sort', 'groupBy']);

const originals = (paths: unknown): unknown =>
  Array.isArray(paths) ? paths.map((one) => (typeof one === 'string' ? originalsIn(one) : one)) : paths;

/** The list arguments of a field as conditions of REST; undefined where it says nothing. Other arguments are left out. */
export function termsOf(
  { variables }: Reading,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (Terms & Pick<RawQuery, 'groupBy'>) | undefined {
  // Without arguments there are only defaults, and list arguments have none.
  if (!node.arguments?.length) return undefined;
  const given = getArgumentValues(field, node, variables);
  const terms: [string, unknown][] = PLAIN.flatMap((name) =>
    given[name] === undefined || given[name] === null
      ? []
      : [[name, PATHS.has(name) ? originals(given[name]) : given[name]]],
  );
  const filter = field.args.find(({ name }) => name === 'filter');
  const type = filter && getNamedType(filter.type);
  if (type && isInputObjectType(type) && given.filter) terms.push(['filter', filterOf(type, given.filter)]);
  return terms.length > 0 ? Object.fromEntries(terms) : undefined;
}
