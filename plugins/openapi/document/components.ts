import type { DescribedRoute, JsonSchema, ParameterDescription } from '../../http/contract.ts';
import type { OpenApiDocument } from '../contract.ts';
import type { DocumentPaths } from './document-paths.ts';
import { renderParameterComponents } from './parameters.ts';
import { RELATED_CHANGES, RELATED_CHANGES_NAME } from './row-schema.ts';

/** All components but `securitySchemes`: those of the routes, of their responses, and `schemas` of rows. */
export const componentsOf = (
  routes: readonly DescribedRoute[],
  { replaceRows, responses }: DocumentPaths,
  schemas: Readonly<Record<string, JsonSchema>>,
): OpenApiDocument['components'] => ({
  schemas: {
    ...(replaceRows(schemasOf(routes), 'answered') as Readonly<Record<string, JsonSchema>>),
    ...schemas,
    ...responses.schemas,
  },
  parameters: renderParameterComponents(parametersOf(routes)),
  responses: responses.components,
});

const schemasOf = (routes: readonly DescribedRoute[]): Readonly<Record<string, JsonSchema>> =>
  Object.assign(
    { [RELATED_CHANGES_NAME]: RELATED_CHANGES },
    ...routes.map(({ description }) => description.components?.schemas),
  );

const parametersOf = (routes: readonly DescribedRoute[]): Readonly<Record<string, ParameterDescription>> =>
  Object.assign({}, ...routes.map(({ description }) => description.components?.parameters));

/** How a request may say who calls. */
export const securitySchemes = (cookie: string): Readonly<Record<string, JsonSchema>> => ({
  Bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or the static token of a user.' },
  Token: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same tokens in the query string.' },
  Cookie: { type: 'apiKey', in: 'cookie', name: cookie, description: 'The refresh token of a session.' },
});
