import type { ParameterDescription, RouteDescription, SchemaByMediaType } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  BOOLEAN_SCHEMA,
  describeParameter,
  INTEGER_SCHEMA,
  listSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import { SCIM_MEDIA_TYPE } from './error-middleware.ts';

export type ResourceName = 'User' | 'Group';

const of = (schema: SchemaByMediaType[string]): SchemaByMediaType => ({ [SCIM_MEDIA_TYPE]: schema });
const meta = objectSchema({ resourceType: TEXT_SCHEMA, location: TEXT_SCHEMA, version: TEXT_SCHEMA });
const reference = objectSchema({ value: TEXT_SCHEMA, $ref: TEXT_SCHEMA });
const common = { schemas: listSchema(TEXT_SCHEMA), id: TEXT_SCHEMA, externalId: TEXT_SCHEMA, meta };

const components = {
  schemas: {
    ScimError: objectSchema(
      { schemas: listSchema(TEXT_SCHEMA), status: TEXT_SCHEMA, scimType: TEXT_SCHEMA, detail: TEXT_SCHEMA },
      ['schemas', 'status', 'detail'],
    ),
    ScimUser: objectSchema(
      {
        ...common,
        userName: TEXT_SCHEMA,
        name: objectSchema({ formatted: TEXT_SCHEMA, givenName: TEXT_SCHEMA, familyName: TEXT_SCHEMA }),
        displayName: TEXT_SCHEMA,
        title: TEXT_SCHEMA,
        preferredLanguage: TEXT_SCHEMA,
        active: BOOLEAN_SCHEMA,
        emails: listSchema(objectSchema({ value: TEXT_SCHEMA, type: TEXT_SCHEMA, primary: BOOLEAN_SCHEMA })),
        groups: listSchema(reference),
      },
      ['schemas', 'id'],
    ),
    ScimGroup: objectSchema({ ...common, displayName: TEXT_SCHEMA, members: listSchema(reference) }, ['schemas', 'id']),
    ScimList: objectSchema(
      {
        schemas: listSchema(TEXT_SCHEMA),
        totalResults: INTEGER_SCHEMA,
        startIndex: INTEGER_SCHEMA,
        itemsPerPage: INTEGER_SCHEMA,
        Resources: listSchema(RECORD_SCHEMA),
      },
      ['schemas', 'totalResults', 'Resources'],
    ),
  },
} as const;

const ERROR_STATUSES = [400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 429, 500, 503] as const;
const errors: Readonly<Record<number, SchemaByMediaType>> = Object.fromEntries(
  ERROR_STATUSES.map((status) => [status, of(schemaRef('ScimError'))]),
);

function describe(
  summary: string,
  answers: Readonly<Record<number, SchemaByMediaType>>,
  more: Partial<RouteDescription> = {},
): RouteDescription {
  const { ScimError, ScimUser, ScimGroup, ScimList } = components.schemas;
  const used = JSON.stringify(answers);
  const named = Object.entries({ ScimUser, ScimGroup, ScimList }).filter(([name]) => used.includes(`/${name}"`));
  return {
    tag: 'scim',
    access: 'own-token',
    summary,
    answers: { ...errors, ...answers },
    components: { schemas: { ScimError, ...Object.fromEntries(named) } },
    ...more,
  };
}

const attributes: Readonly<Record<string, ParameterDescription>> = {
  attributes: describeParameter('Attributes to answer, separated by commas.'),
  excludedAttributes: describeParameter('Attributes to leave out, separated by commas.'),
};
const list: Readonly<Record<string, ParameterDescription>> = {
  filter: describeParameter('A filter of SCIM, such as `userName eq "ann"`.'),
  sortBy: describeParameter('The attribute to sort by.'),
  sortOrder: describeParameter('`ascending` or `descending`.'),
  startIndex: describeParameter('Number of the first resource, from 1.', INTEGER_SCHEMA),
  count: describeParameter('How many resources to answer, 200 at most; default 100.', INTEGER_SCHEMA),
  ...attributes,
};
const params = { id: describeParameter('The id of the resource.') };
const body = { content: { [SCIM_MEDIA_TYPE]: RECORD_SCHEMA, 'application/json': RECORD_SCHEMA } };
const resource = (name: ResourceName) => of(schemaRef(`Scim${name}`));
const lists = { 200: of(schemaRef('ScimList')) };

export const SERVICE_PROVIDER_CONFIG = describe('Answers what of SCIM the service does.', {
  200: of(ANY_VALUE_SCHEMA),
});

export const listDiscovery = (name: string) => describe(`Lists the ${toWords(name)} of SCIM.`, lists);
export const readDiscovery = (name: string) =>
  describe(`Reads one of the ${toWords(name)} of SCIM.`, { 200: of(RECORD_SCHEMA) }, { params });
export const REFUSE_DISCOVERY_METHOD = describe('Refuses all other methods: what SCIM does is read only.', {});
const toWords = (name: string): string => (name === 'Schemas' ? 'schemas' : 'resource types');

export const listResources = (name: ResourceName) =>
  describe(`Lists the ${name.toLowerCase()}s of the provider.`, lists, { query: list });
export const searchResources = (name: ResourceName) =>
  describe(`Lists the ${name.toLowerCase()}s of the provider by a query in the body.`, lists, { body });
export const createResource = (name: ResourceName) =>
  describe(`Creates a ${name.toLowerCase()} of the provider.`, { 201: resource(name) }, { query: attributes, body });
export const readResource = (name: ResourceName) =>
  describe(`Reads a ${name.toLowerCase()} of the provider.`, { 200: resource(name) }, { query: attributes, params });
export const replaceResource = (name: ResourceName) =>
  describe(
    `Replaces a ${name.toLowerCase()} of the provider.`,
    { 200: resource(name) },
    { query: attributes, params, body },
  );
export const patchResource = (name: ResourceName) =>
  describe(
    `Changes attributes of a ${name.toLowerCase()} of the provider.`,
    { 200: resource(name) },
    { query: attributes, params, body },
  );
export const deleteResource = (name: ResourceName) =>
  describe(`Deletes a ${name.toLowerCase()} of the provider.`, { 204: {} }, { params });
