import { fail } from '#kernel';
import { assertStorableJson } from '../../http/library.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { FormFields } from './form.ts';

/** Types whose values stay text, even if the text reads like a number or boolean. */
const TEXT_TYPES: readonly string[] = ['string', 'text', 'hash', 'csv', 'unknown'];

/** Converts the texts of a form to values of a payload, by the type of each field. @throws INVALID_PAYLOAD for invalid JSON. */
export const formToPayload = (fields: FormFields, collection: Collection): Payload =>
  // Object.fromEntries makes own members of all names: `__proto__` is an unknown field.
  Object.fromEntries([...fields].map(([name, text]) => [name, parseValue(name, collection.fields.get(name), text)]));

function parseValue(name: string, field: Field | undefined, text: string): unknown {
  if (text === 'null') return null;
  if (!field) return parseFlagOrText(text);
  const isTree = field.type === 'json' || field.type.startsWith('geometry') || field.column?.array || field.relation;
  if (isTree && /^\s*[[{]/.test(text)) return parseJson(name, text);
  // An empty control of a form is null if the field holds no text.
  if (text === '' && field.column && !TEXT_TYPES.includes(field.type)) return null;
  if (field.column?.array || (field.type === 'json' && isTags(field))) return splitList(text);
  if (field.type === 'json') return parseJsonOrText(text);
  return TEXT_TYPES.includes(field.type) ? text : parseFlagOrText(text);
}

const isTags = ({ name, meta }: Field): boolean => name === 'tags' || meta?.interface === 'tags';

const splitList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

const parseFlagOrText = (text: string): string | boolean => (text === 'true' ? true : text === 'false' ? false : text);

/** Numbers and quoted texts are read as JSON; anything else stays text. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseJson(name: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    assertStorableJson(value, text, name);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw fail('INVALID_PAYLOAD', `${name} is no JSON.`, { field: name, path: [name] });
  }
}
