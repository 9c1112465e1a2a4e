import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  describeRequiredParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const SCOPE = enumSchema('global', 'collection');
const PLACE = { subject: TEXT_SCHEMA, scope: SCOPE, scope_key: TEXT_SCHEMA, key: TEXT_SCHEMA };
const VALUE = anyOfSchema(TEXT_SCHEMA, { type: 'number' }, BOOLEAN_SCHEMA);

/** Without `subject` and `declaration` where settings of the package are not available. */
const OWNER = exactObjectSchema(
  { displaySubject: TEXT_SCHEMA, status: enumSchema('available', 'unavailable') },
  {
    subject: TEXT_SCHEMA,
    declaration: RECORD_SCHEMA,
    reason: exactObjectSchema({ code: TEXT_SCHEMA, detail: TEXT_SCHEMA }),
  },
);
const SETTING = exactObjectSchema({ scope: SCOPE, scope_key: TEXT_SCHEMA, key: TEXT_SCHEMA, value: ANY_VALUE_SCHEMA });

const components = { schemas: { ExtensionSetting: SETTING, ExtensionSettingsOwner: OWNER } };
const base = { tag: 'extension settings', access: 'admin', components } as const;

const subject = describeRequiredParameter('The name of the extension.');

export const LIST_SETTINGS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the stored settings of an extension, secrets masked.',
  query: {
    subject,
    scope: describeParameter('Settings of this scope alone.', SCOPE),
    scope_key: describeParameter('Settings of this collection alone; empty for global ones.'),
  },
  answers: describeDataAnswer(listSchema(schemaRef('ExtensionSetting'))),
  errors: ['INVALID_PAYLOAD'],
};

export const WRITE_SETTING_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Stores the value of one setting.',
  body: describeJsonBody(exactObjectSchema({ ...PLACE, value: VALUE })),
  answers: describeDataAnswer({ type: 'null' }),
  errors: ['FAILED_VALIDATION', 'INVALID_CONFIG'],
};

export const REMOVE_SETTINGS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Removes the value of one setting, or all of an extension.',
  body: describeJsonBody(anyOfSchema(exactObjectSchema(PLACE), exactObjectSchema({ subject: TEXT_SCHEMA }))),
  answers: describeDataAnswer(exactObjectSchema({ removed: INTEGER_SCHEMA })),
};

export const SETTINGS_OWNERS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that declare settings, and whether these are available.',
  answers: describeDataAnswer(listSchema(schemaRef('ExtensionSettingsOwner'))),
};

export const APP_SETTINGS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'app',
  summary: 'Reads the settings of an extension that its code in the app may know.',
  query: { subject, collection: describeParameter('A collection whose settings are meant beside the global ones.') },
  answers: describeDataAnswer({ ...RECORD_SCHEMA, additionalProperties: VALUE }),
  errors: ['INVALID_PAYLOAD'],
};
