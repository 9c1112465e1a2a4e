import type { JsonSchema, RouteDescription } from '../../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  listSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import { itemSchema, queryOpenApiComponents, SINGLE_ROW_QUERY_PARAMETER_REFS } from '../../items/library.ts';

const GRANT = { fields: listSchema(TEXT_SCHEMA), presets: RECORD_SCHEMA };
const ACTION = schemaRef('EffectiveAction');
const ROW_ACTION = exactObjectSchema({ access: BOOLEAN_SCHEMA });

const schemas: Readonly<Record<string, JsonSchema>> = {
  /** `fields` and `presets` where the action is for fields. */
  EffectiveAction: objectSchema({ access: enumSchema('none', 'partial', 'full'), ...GRANT }, ['access']),
  CollectionPermissions: exactObjectSchema({
    create: ACTION,
    read: ACTION,
    update: ACTION,
    delete: ACTION,
    share: ACTION,
  }),
  ItemPermissions: exactObjectSchema({
    update: objectSchema({ access: BOOLEAN_SCHEMA, ...GRANT }, ['access']),
    delete: ROW_ACTION,
    share: ROW_ACTION,
  }),
};

const collection = describeParameter('Name of the collection.');
const base = { tag: 'permissions', access: 'user', components: { schemas } } as const;

export const OWN_ROLE_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'roles',
  access: 'user',
  summary: 'Reads the role of the caller, as a list; its id alone where the caller may not read it.',
  query: SINGLE_ROW_QUERY_PARAMETER_REFS,
  answers: describeDataAnswer(listSchema(itemSchema('platform_roles'))),
  components: queryOpenApiComponents,
};

export const OWN_RIGHTS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers what the caller may do in each collection; those in which he may do nothing are left out.',
  answers: describeDataAnswer({ type: 'object', additionalProperties: schemaRef('CollectionPermissions') }),
};

export const COLLECTION_RIGHTS_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers what the caller may do with the row of a singleton, or with some row of another collection.',
  params: { collection },
  answers: describeDataAnswer(schemaRef('ItemPermissions')),
};

export const ITEM_RIGHTS_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers what the caller may do with one row; nothing with one that is not there.',
  params: { collection, id: describeParameter('Key of the row.') },
  answers: describeDataAnswer(schemaRef('ItemPermissions')),
};
