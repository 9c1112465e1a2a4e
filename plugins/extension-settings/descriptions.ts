import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOf,
  BOOLEAN_SCHEMA,
  dataAnswer,
  describeJsonBody,
  describeParameter,
  exactObject,
  INTEGER_SCHEMA,
  listOf,
  oneOfTexts,
  RECORD_SCHEMA,
  requiredParameter,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const SCOPE = oneOfTexts('global', 'collection');
const PLACE = { subject: TEXT_SCHEMA, scope: SCOPE, scope_key: TEXT_SCHEMA, key: TEXT_SCHEMA };
const VALUE = anyOf(TEXT_SCHEMA, { type: 'number' }, BOOLEAN_SCHEMA);

/** Without `subject` and `declaration` where settings of the package are not available. */
const OWNER = exactObject(
  { displaySubject: TEXT_SCHEMA, status: oneOfTexts('available', 'unavailable') },
  { subject: TEXT_SCHEMA, declaration: RECORD_SCHEMA, reason: exactObject({ code: TEXT_SCHEMA, detail: TEXT_SCHEMA }) },
);
const SETTING = exactObject({ scope: SCOPE, scope_key: TEXT_SCHEMA, key: TEXT_SCHEMA, value: ANY_VALUE_SCHEMA });

const components = { schemas: { ExtensionSetting: SETTING, ExtensionSettingsOwner: OWNER } };
const base = { tag: 'extension settings', access: 'admin', components } as const;

const subject = requiredParameter('The name of the extension.');

export const LIST_SETTINGS_ROUTE: RouteDescription = {
  ...base,
  summary: 'Lists the stored settings of an extension, secrets masked.',
  query: {
    subject,
    scope: describeParameter('Settings of this scope alone.', SCOPE),
    scope_key: describeParameter('Settings of this collection alone; empty for global ones.'),
  },
  answers: dataAnswer(listOf(schemaRef('ExtensionSetting'))),
  errors: ['INVALID_PAYLOAD'],
};

export const WRITE_SETTING_ROUTE: RouteDescription = {
  ...base,
  summary: 'Stores the value of one setting.',
  body: describeJsonBody(exactObject({ ...PLACE, value: VALUE })),
  answers: dataAnswer({ type: 'null' }),
  errors: ['FAILED_VALIDATION', 'INVALID_CONFIG'],
};

export const REMOVE_SETTINGS_ROUTE: RouteDescription = {
  ...base,
  summary: 'Removes the value of one setting, or all of an extension.',
  body: describeJsonBody(anyOf(exactObject(PLACE), exactObject({ subject: TEXT_SCHEMA }))),
  answers: dataAnswer(exactObject({ removed: INTEGER_SCHEMA })),
};

export const SETTINGS_OWNERS_ROUTE: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that declare settings, and whether these are available.',
  answers: dataAnswer(listOf(schemaRef('ExtensionSettingsOwner'))),
};

export const APP_SETTINGS_ROUTE: RouteDescription = {
  ...base,
  access: 'app',
  summary: 'Reads the settings of an extension that its code in the app may know.',
  query: { subject, collection: describeParameter('A collection whose settings are meant beside the global ones.') },
  answers: dataAnswer({ ...RECORD_SCHEMA, additionalProperties: VALUE }),
  errors: ['INVALID_PAYLOAD'],
};
