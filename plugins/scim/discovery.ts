import { MAX_RESULTS } from './list-request.ts';
import type { ScimProvider } from './providers.ts';
import { GROUP_DEFINITION, type ScimSchema, USER_DEFINITION } from './scim-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const meta = (resourceType: string, location: string) => ({ meta: { resourceType, location } });

/** What of SCIM the service does (RFC 7643, section 5). */
export const renderServiceProviderConfig = (base: string): Json => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_RESULTS },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the settings of the provider, in the header Authorization',
      primary: true,
    },
  ],
  ...meta('ServiceProviderConfig', `${base}/ServiceProviderConfig`),
});

const definitionsOf = ({ hasGroups }: ScimProvider): readonly ScimSchema[] =>
  hasGroups ? [USER_DEFINITION, GROUP_DEFINITION] : [USER_DEFINITION];

/** The kinds of resources (RFC 7643, section 6). */
export const renderResourceTypes = (provider: ScimProvider, base: string): readonly Json[] =>
  definitionsOf(provider).map(({ id, name, description }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint: `/${name}s`,
    description,
    schema: id,
    schemaExtensions: [],
    ...meta('ResourceType', `${base}/ResourceTypes/${name}`),
  }));

/** The schemas of the resources (RFC 7643, section 7), without `groups` of users where the provider sends none. */
export const renderSchemas = (provider: ScimProvider, base: string): readonly Json[] =>
  definitionsOf(provider).map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    attributes: schema.attributes.filter(({ name }) => provider.hasGroups || name !== 'groups'),
    ...meta('Schema', `${base}/Schemas/${schema.id}`),
  }));
