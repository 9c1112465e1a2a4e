import type { PermissionAction, PermissionSet } from '../../access/contract.ts';
import type { ContributedGraphqlField, GraphqlScope } from '../contract.ts';
import {
  type ContributedFieldDefinition,
  type ContributedTypeDefinitionNode,
  parseContributedField,
} from './contributed-definition.ts';
import { createFieldBindingExtensions } from './field-bindings.ts';
import type { RootFieldConfigs } from './query-fields.ts';
import type { LogWarning } from './schema-names.ts';
import { RESERVED_TYPE_NAMES, SHARED_TYPES } from './shared-types.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';
import { createContributedDefinitionConverter } from './types-from-definitions.ts';

export type ContributedFields = readonly { readonly owner: string; readonly value: ContributedGraphqlField }[];

interface ParsedField {
  readonly owner: string;
  readonly field: ContributedGraphqlField;
  readonly definition: ContributedFieldDefinition;
}

/** Names of the types that contributed fields define, for all callers. */
export const contributedTypeNames = (contributed: ContributedFields, scope: GraphqlScope): readonly string[] => [
  ...new Set(
    contributed.flatMap(({ value }) => {
      const definition = value.scope === scope ? parseContributedField(value) : '';
      return typeof definition === 'string' ? [] : definition.types.map(({ name }) => name);
    }),
  ),
];

/**
 * The contributed fields that are offered to this caller and whose types the caller has. A field that cannot be parsed,
 * or that defines a used name differently, is left out with a warning, since it may be of an extension.
 */
export function createContributedFields(
  types: CollectionGraphqlTypeRegistry,
  contributed: ContributedFields,
  scope: GraphqlScope,
  warn: LogWarning,
): { readonly query: RootFieldConfigs; readonly mutation: RootFieldConfigs } {
  const { permissions, names } = types.model;
  const leaveOut = ({ owner, field }: Pick<ParsedField, 'owner' | 'field'>, reason: string) =>
    warn(`a field is left out of GraphQL: ${reason}`, { by: owner, definition: field.definition.slice(0, 200) });

  const declared = new Map<string, ContributedTypeDefinitionNode>();
  const typeTexts = new Map<string, string>();
  const findConflict = ({ types: own }: ContributedFieldDefinition): string | undefined =>
    own.find(({ name, text }) => RESERVED_TYPE_NAMES.includes(name) || (typeTexts.get(name) ?? text) !== text)?.name;

  const accepted: ParsedField[] = [];
  for (const { owner, value: field } of contributed) {
    if (field.scope !== scope || !isOffered(field, permissions)) continue;
    const definition = parseContributedField(field);
    const takenName = typeof definition === 'string' ? undefined : findConflict(definition);
    if (typeof definition === 'string') leaveOut({ owner, field }, definition);
    else if (takenName !== undefined) leaveOut({ owner, field }, `another type has the name ${takenName}`);
    else {
      for (const { name, node, text } of definition.types) {
        declared.set(name, node);
        typeTexts.set(name, text);
      }
      accepted.push({ owner, field, definition });
    }
  }

  const definedTypes = createContributedDefinitionConverter(
    declared,
    (name) => SHARED_TYPES.get(name) ?? types.findByName(name),
  );
  const fields = { query: [] as RootFieldConfigs, mutation: [] as RootFieldConfigs };
  for (const one of accepted) {
    const obstacle = definedTypes.findObstacle(one.definition.field);
    if (obstacle?.kind === 'misplaced') leaveOut(one, `${obstacle.name} is not allowed in its position`);
    // A type of a collection is missing for some callers without being an error.
    else if (obstacle && !names.types.has(obstacle.name)) leaveOut(one, `there is no type ${obstacle.name}`);
    if (obstacle) continue;
    const config = definedTypes.toFieldConfig(one.definition.field);
    fields[one.field.operation].push([
      one.definition.field.name.value,
      { ...config, extensions: createFieldBindingExtensions({ kind: 'contributed', field: one.field }) },
    ]);
  }
  return fields;
}

const isOffered = ({ offeredTo }: ContributedGraphqlField, { admin, of }: PermissionSet): boolean =>
  offeredTo === undefined ||
  admin ||
  (offeredTo !== 'admins' && of(offeredTo.collection, offeredTo.action as PermissionAction).length > 0);
