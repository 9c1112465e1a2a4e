import { type FieldNode, type GraphQLField, getArgumentValues, getNamedType, isInputObjectType } from 'graphql';
import type { RawQuery, SelectionListParameters } from '../../query/contract.ts';
import { decodeGraphqlAliasesInPath } from '../schema/database-name-aliases.ts';
import type { GraphqlDocumentContext } from './collect-fields.ts';
import { graphqlInputToFilter } from './filter.ts';

const SIMPLE_ARGUMENTS = ['sort', 'limit', 'offset', 'page', 'search', 'groupBy'] as const;

/** Arguments with field paths, which may use aliases or database names. */
const FIELD_PATH_ARGUMENTS: ReadonlySet<string> = new Set(['sort', 'groupBy']);

const toOriginalPaths = (paths: unknown): unknown =>
  Array.isArray(paths) ? paths.map((one) => (typeof one === 'string' ? decodeGraphqlAliasesInPath(one) : one)) : paths;

/**
 * Converts the list arguments of a field into list parameters of REST; undefined without any. Other arguments are
 * ignored.
 */
export function graphqlArgumentsToListParameters(
  { variables }: GraphqlDocumentContext,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (SelectionListParameters & Pick<RawQuery, 'groupBy'>) | undefined {
  // List arguments have no default values.
  if (!node.arguments?.length) return undefined;
  const values = getArgumentValues(field, node, variables);
  const parameters: [string, unknown][] = SIMPLE_ARGUMENTS.flatMap((name) =>
    values[name] === undefined || values[name] === null
      ? []
      : [[name, FIELD_PATH_ARGUMENTS.has(name) ? toOriginalPaths(values[name]) : values[name]]],
  );
  const filter = field.args.find(({ name }) => name === 'filter');
  const type = filter && getNamedType(filter.type);
  if (type && isInputObjectType(type) && values.filter)
    parameters.push(['filter', graphqlInputToFilter(type, values.filter)]);
  return parameters.length > 0 ? Object.fromEntries(parameters) : undefined;
}
