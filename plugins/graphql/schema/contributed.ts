import type { Action, PermissionSet } from '../../access/contract.ts';
import type { GraphqlField, GraphqlScope } from '../contract.ts';
import { bound } from './binding.ts';
import { type Definition, definitionOf, type OwnType } from './definition.ts';
import type { Warn } from './names.ts';
import { ownTypes } from './own-types.ts';
import type { RootFields } from './roots.ts';
import { RESERVED, SHARED_TYPES } from './shared-types.ts';
import type { Types } from './types.ts';

export type Contributed = readonly { readonly owner: string; readonly value: GraphqlField }[];

interface Said {
  readonly owner: string;
  readonly field: GraphqlField;
  readonly definition: Definition;
}

/** Names of the types that other plugins bring along, whoever is offered their fields. */
export const contributedTypeNames = (contributed: Contributed, scope: GraphqlScope): readonly string[] => [
  ...new Set(
    contributed.flatMap(({ value }) => {
      const definition = value.scope === scope ? definitionOf(value) : '';
      return typeof definition === 'string' ? [] : definition.types.map(({ name }) => name);
    }),
  ),
];

/**
 * The fields of other plugins that this caller is offered and has all types for. One that cannot be read, or says something
 * else under a name that is taken, is left out with a warning: it may be a stranger's.
 */
export function contributedFields(
  types: Types,
  contributed: Contributed,
  scope: GraphqlScope,
  warn: Warn,
): { readonly query: RootFields; readonly mutation: RootFields } {
  const { permissions, names } = types.model;
  const leaveOut = ({ owner, field }: Pick<Said, 'owner' | 'field'>, reason: string) =>
    warn(`a field is left out of GraphQL: ${reason}`, { by: owner, definition: field.definition.slice(0, 200) });

  const declared = new Map<string, OwnType>();
  const texts = new Map<string, string>();
  const conflict = ({ types: own }: Definition): string | undefined =>
    own.find(({ name, text }) => RESERVED.includes(name) || (texts.get(name) ?? text) !== text)?.name;

  const said: Said[] = [];
  for (const { owner, value: field } of contributed) {
    if (field.scope !== scope || !isOffered(field, permissions)) continue;
    const definition = definitionOf(field);
    const taken = typeof definition === 'string' ? undefined : conflict(definition);
    if (typeof definition === 'string') leaveOut({ owner, field }, definition);
    else if (taken !== undefined) leaveOut({ owner, field }, `another type is called ${taken}`);
    else {
      for (const { name, node, text } of definition.types) {
        declared.set(name, node);
        texts.set(name, text);
      }
      said.push({ owner, field, definition });
    }
  }

  const own = ownTypes(declared, (name) => SHARED_TYPES.get(name) ?? types.named(name));
  const found = { query: [] as RootFields, mutation: [] as RootFields };
  for (const one of said) {
    const obstacle = own.obstacle(one.definition.field);
    if (obstacle?.kind === 'misplaced') leaveOut(one, `${obstacle.name} does not fit where it stands`);
    // What is made of a collection is there for some callers and not for others.
    else if (obstacle && !names.types.has(obstacle.name)) leaveOut(one, `there is no type ${obstacle.name}`);
    if (obstacle) continue;
    const config = own.config(one.definition.field);
    found[one.field.operation].push([
      one.definition.field.name.value,
      { ...config, extensions: bound({ kind: 'contributed', field: one.field }) },
    ]);
  }
  return found;
}

const isOffered = ({ offeredTo }: GraphqlField, { admin, of }: PermissionSet): boolean =>
  offeredTo === undefined ||
  admin ||
  (offeredTo !== 'admins' && of(offeredTo.collection, offeredTo.action as Action).length > 0);
