import { isArray, isObject, keys, ownProperty, stringify } from './primordials.ts';

/**
 * What an artifact exports: a contract object (has `handler`, `filters` or `actions`), a function (for `exec`), or a
 * bundle: a record of contract objects keyed `type:name`, or lists of `{ name, config }` by type.
 */
export type ArtifactExports = object | undefined;

const MAX_ENTRIES = 64;
const MAX_NAMES = 16;
const MAX_NAME_LENGTH = 128;
const MAX_KEY_LENGTH = 300;
const LISTS = ['endpoints', 'hooks', 'operations'] as const;
const TYPES = ['endpoint', 'hook', 'operation'] as const;

const isSingle = (value: object): boolean =>
  typeof ownProperty(value, 'handler') === 'function' ||
  isObject(ownProperty(value, 'filters')) ||
  isObject(ownProperty(value, 'actions'));

const isLists = (value: object): boolean =>
  isArray(ownProperty(value, 'endpoints')) ||
  isArray(ownProperty(value, 'hooks')) ||
  isArray(ownProperty(value, 'operations'));

/** The contract object or function of a key; undefined where there is none. Runs getters of the guest. */
export function findArtifactExport(contract: ArtifactExports, key: string): object | undefined {
  if (contract === undefined) return undefined;
  if (typeof contract === 'function' || isSingle(contract)) return key === '' ? contract : undefined;
  let found: object | undefined;
  visitEntries(contract, (name, entry) => {
    if (name === key && isObject(entry)) found = entry;
  });
  return found;
}

/** Calls `visit` with every entry of a bundle. False where the value is no bundle. */
function visitEntries(bundle: object, visit: (key: string, entry: unknown) => void): boolean {
  if (!isLists(bundle)) {
    const names = keys(bundle);
    if (names.length > MAX_ENTRIES) return false;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      if (!hasType(name)) return false;
      visit(name, ownProperty(bundle, name));
    }
    return names.length > 0;
  }
  for (let type = 0; type < 3; type++) {
    const list = ownProperty(bundle, LISTS[type] as string);
    if (list === undefined) continue;
    if (!isArray(list) || list.length > MAX_ENTRIES) return false;
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      const name = isObject(item) ? ownProperty(item, 'name') : undefined;
      if (typeof name !== 'string' || name === '') return false;
      visit(`${TYPES[type]}:${name}`, ownProperty(item, 'config'));
    }
  }
  return true;
}

function hasType(key: string): boolean {
  for (let type = 0; type < 3; type++) {
    const prefix = `${TYPES[type]}:`;
    let index = 0;
    while (index < prefix.length && key[index] === prefix[index]) index++;
    if (index === prefix.length && key.length > prefix.length) return true;
  }
  return false;
}

/** Renders the contract entries as JSON (`ArtifactExportSummary` of the protocol); undefined where the value is no contract. */
export function renderArtifactExportSummaries(contract: ArtifactExports): string | undefined {
  if (contract === undefined) return undefined;
  if (typeof contract === 'function') return `[${renderLine('', null, false, '', '')}]`;
  if (isSingle(contract)) {
    const line = renderEntry('', contract);
    return line === undefined ? undefined : `[${line}]`;
  }
  let text = '';
  let count = 0;
  let valid = true;
  const isBundle = visitEntries(contract, (key, entry) => {
    const line = isObject(entry) && isSingle(entry) ? renderEntry(key, entry) : undefined;
    if (line === undefined) valid = false;
    else text += count++ === 0 ? line : `,${line}`;
  });
  return isBundle && valid && count > 0 && count <= MAX_ENTRIES ? `[${text}]` : undefined;
}

function renderEntry(key: string, entry: object): string | undefined {
  const id = ownProperty(entry, 'id');
  const filters = renderNames(ownProperty(entry, 'filters'));
  const actions = renderNames(ownProperty(entry, 'actions'));
  if (filters === undefined || actions === undefined || key.length > MAX_KEY_LENGTH) return undefined;
  if (typeof id === 'string' && id.length > MAX_KEY_LENGTH) return undefined;
  const handler = typeof ownProperty(entry, 'handler') === 'function';
  return renderLine(key, typeof id === 'string' ? id : null, handler, filters, actions);
}

const renderLine = (key: string, id: string | null, handler: boolean, filters: string, actions: string): string =>
  `{"key":${stringify(key)},"id":${stringify(id)},"handler":${handler},"filters":[${filters}],"actions":[${actions}]}`;

/**
 * Names of members that are functions, as the inside of a JSON list; undefined where there are too many or too long
 * ones.
 */
function renderNames(handlers: unknown): string | undefined {
  if (!isObject(handlers)) return '';
  const names = keys(handlers);
  let text = '';
  let count = 0;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (typeof ownProperty(handlers, name) !== 'function') continue;
    if (++count > MAX_NAMES || name.length > MAX_NAME_LENGTH) return undefined;
    text += count === 1 ? stringify(name) : `,${stringify(name)}`;
  }
  return text;
}

/** Throws `undefined` where the value is no function: the invocation fails. */
export function requireFunction(value: unknown): (...args: unknown[]) => unknown {
  if (typeof value !== 'function') throw undefined;
  return value as (...args: unknown[]) => unknown;
}
