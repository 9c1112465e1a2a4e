import type { HttpContext } from '../../http/contract.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** What the client takes an answer as; JSON where it says nothing, or nothing that we have. */
export const mediaTypeFor = (ctx: HttpContext): string =>
  `${ctx.accepts(JSON_TYPE, GRAPHQL_TYPE) || JSON_TYPE}; charset=utf-8`;
