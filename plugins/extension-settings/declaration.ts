import { findJsonSchemaProblems as findSchemaProblems } from '#kernel';
import type { ExtensionSettings, SettingDeclaration, SettingsDeclaration } from './contract.ts';

/** A declaration in a manifest, before defaults are filled in. */
interface RawDeclaration {
  readonly type: SettingDeclaration['type'];
  readonly scope?: SettingDeclaration['scope'];
  readonly secret?: { readonly source?: 'inline' | 'config' };
  readonly appReadable?: boolean;
  readonly presentation?: SettingDeclaration['presentation'];
}

const AT = '/settings';
const KEY = /^[a-z][a-z0-9_]{0,63}$/;
/** Names that every JavaScript object has and that match the pattern of keys; they cannot be keys. */
const RESERVED: readonly string[] = ['constructor', 'prototype'];

const strict = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});

const shape = strict(
  {
    type: { enum: ['string', 'number', 'boolean'] },
    scope: { enum: ['global', 'collection'] },
    secret: strict({ source: { enum: ['inline', 'config'] } }),
    appReadable: { type: 'boolean' },
    presentation: strict({
      order: { type: 'integer' },
      width: { enum: ['half', 'full'] },
      interface: { enum: ['system-display-template'] },
    }),
  },
  { required: ['type'] },
);
const map = { type: 'object', minProperties: 1 };

/** A manifest's `settings` (conventions, "Declaration"); absent settings are valid. Unknown members are problems. */
export const parseSettingsDeclaration: ExtensionSettings['parseDeclaration'] = (raw) => {
  if (raw === undefined) return { problems: [], declaration: {} };
  const wrongMap = findSchemaProblems(map, raw, AT);
  if (wrongMap.length > 0) return { problems: wrongMap, declaration: {} };
  const written = Object.entries(raw as Record<string, unknown>);
  const wrong = written.flatMap(([key, value]) => findJsonSchemaProblems(key, value));
  if (wrong.length > 0) return { problems: wrong, declaration: {} };
  return { problems: [], declaration: withDefaults(written as [string, RawDeclaration][]) };
};

function findJsonSchemaProblems(key: string, value: unknown): readonly string[] {
  if (!KEY.test(key) || RESERVED.includes(key)) {
    const rule = 'lower-case letters, digits and _, a letter first, at most 64';
    return [`${AT} has the key ${JSON.stringify(key.slice(0, 64))}, which is not one (${rule})`];
  }
  const at = `${AT}/${key}`;
  const wrong = findSchemaProblems(shape, value, at);
  return wrong.length > 0 ? wrong : findContradictions(value as RawDeclaration).map((what) => `${at} ${what}`);
}

/** Members that are valid alone but not together. */
function findContradictions({
  type,
  scope = 'global',
  secret,
  appReadable,
  presentation,
}: RawDeclaration): readonly string[] {
  const found: string[] = [];
  if (secret && type !== 'string') found.push('is a secret, which must be of the type string');
  if (secret && appReadable) found.push('is a secret, which is never readable by the app');
  if (secret?.source === 'config' && scope !== 'global') found.push('is a secret of the configuration: global only');
  if (presentation?.interface && (secret || scope !== 'collection' || type !== 'string'))
    found.push('has an interface that is only for strings of collections that are no secrets');
  return found;
}

const withDefaults = (written: readonly (readonly [string, RawDeclaration])[]): SettingsDeclaration =>
  Object.freeze(
    Object.fromEntries(
      written.map(([key, { type, scope = 'global', secret, appReadable = false, presentation }]) => [
        key,
        {
          type,
          scope,
          ...(secret ? { secret: { source: secret.source ?? 'inline' } } : {}),
          appReadable,
          ...(presentation ? { presentation } : {}),
        },
      ]),
    ),
  );

/** One key's declaration; undefined for any other name, also for members of every object. */
export const findSettingDeclaration = (
  declaration: SettingsDeclaration,
  key: unknown,
): SettingDeclaration | undefined =>
  typeof key === 'string' && Object.hasOwn(declaration, key) ? declaration[key] : undefined;
