import type { HttpContext } from '../../http/contract.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** The media type of the response, negotiated by Accept; JSON by default. */
export const graphqlMediaTypeFor = (ctx: HttpContext): string =>
  `${ctx.accepts(JSON_TYPE, GRAPHQL_TYPE) || JSON_TYPE}; charset=utf-8`;
