import type { RouteDescription } from '../http/contract.ts';
import {
  ANYTHING,
  anyOf,
  BOOLEAN,
  dataAnswer,
  exactObject,
  INTEGER,
  jsonBody,
  listOf,
  oneOfTexts,
  parameter,
  RECORD,
  requiredParameter,
  schemaRef,
  TEXT,
} from '../http/library.ts';

const SCOPE = oneOfTexts('global', 'collection');
const PLACE = { subject: TEXT, scope: SCOPE, scope_key: TEXT, key: TEXT };
const VALUE = anyOf(TEXT, { type: 'number' }, BOOLEAN);

/** Without `subject` and `declaration` where settings of the package are not available. */
const OWNER = exactObject(
  { displaySubject: TEXT, status: oneOfTexts('available', 'unavailable') },
  { subject: TEXT, declaration: RECORD, reason: exactObject({ code: TEXT, detail: TEXT }) },
);
const SETTING = exactObject({ scope: SCOPE, scope_key: TEXT, key: TEXT, value: ANYTHING });

const components = { schemas: { ExtensionSetting: SETTING, ExtensionSettingsOwner: OWNER } };
const base = { tag: 'extension settings', access: 'admin', components } as const;

const subject = requiredParameter('The name of the extension.');

export const LIST: RouteDescription = {
  ...base,
  summary: 'Lists the stored settings of an extension, secrets masked.',
  query: {
    subject,
    scope: parameter('Settings of this scope alone.', SCOPE),
    scope_key: parameter('Settings of this collection alone; empty for global ones.'),
  },
  answers: dataAnswer(listOf(schemaRef('ExtensionSetting'))),
  errors: ['INVALID_PAYLOAD'],
};

export const WRITE: RouteDescription = {
  ...base,
  summary: 'Stores the value of one setting.',
  body: jsonBody(exactObject({ ...PLACE, value: VALUE })),
  answers: dataAnswer({ type: 'null' }),
  errors: ['FAILED_VALIDATION', 'INVALID_CONFIG'],
};

export const REMOVE: RouteDescription = {
  ...base,
  summary: 'Removes the value of one setting, or all of an extension.',
  body: jsonBody(anyOf(exactObject(PLACE), exactObject({ subject: TEXT }))),
  answers: dataAnswer(exactObject({ removed: INTEGER })),
};

export const OWNERS: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that declare settings, and whether these are available.',
  answers: dataAnswer(listOf(schemaRef('ExtensionSettingsOwner'))),
};

export const APP: RouteDescription = {
  ...base,
  access: 'app',
  summary: 'Reads the settings of an extension that its code in the app may know.',
  query: { subject, collection: parameter('A collection whose settings are meant beside the global ones.') },
  answers: dataAnswer({ ...RECORD, additionalProperties: VALUE }),
  errors: ['INVALID_PAYLOAD'],
};
