import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  exactObjectSchema,
  listSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

/** A package that waits for consent, and what it requests without an agreement. */
const WAITING = exactObjectSchema({ name: TEXT_SCHEMA, version: TEXT_SCHEMA, asks: listSchema(TEXT_SCHEMA) });

const components = { schemas: { ExtensionConsent: WAITING } };
const base = { tag: 'extensions', access: 'admin', components } as const;

export const WAITING_PACKAGES_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the packages that wait for an admin to agree to what they ask for.',
  answers: describeDataAnswer(listSchema(schemaRef('ExtensionConsent'))),
};

export const CONSENT_AGREE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Agrees to what a package asks for, and loads it.',
  body: describeJsonBody(exactObjectSchema({ name: { ...TEXT_SCHEMA, minLength: 1 } }, { asks: ANY_VALUE_SCHEMA })),
  answers: describeDataAnswer(schemaRef('ExtensionConsent')),
};
