import type { RouteDescription } from '../http/contract.ts';
import { ANYTHING, dataAnswer, exactObject, jsonBody, listOf, schemaRef, TEXT } from '../http/library.ts';

/** A package that waits for consent, and what it requests without an agreement. */
const WAITING = exactObject({ name: TEXT, version: TEXT, asks: listOf(TEXT) });

const components = { schemas: { ExtensionConsent: WAITING } };
const base = { tag: 'extensions', access: 'admin', components } as const;

export const WAITING_LIST: RouteDescription = {
  ...base,
  summary: 'Lists the packages that wait for an admin to agree to what they ask for.',
  answers: dataAnswer(listOf(schemaRef('ExtensionConsent'))),
};

export const AGREE: RouteDescription = {
  ...base,
  summary: 'Agrees to what a package asks for, and loads it.',
  body: jsonBody(exactObject({ name: { ...TEXT, minLength: 1 } }, { asks: ANYTHING })),
  answers: dataAnswer(schemaRef('ExtensionConsent')),
};
