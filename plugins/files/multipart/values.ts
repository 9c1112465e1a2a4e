import { fail } from '#kernel';
import { checkJson } from '../../http/library.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Fields } from './form.ts';

/** Types whose values are texts already: what reads like something else is still what somebody wrote. */
const TEXTS: readonly string[] = ['string', 'text', 'hash', 'csv', 'unknown'];

/** The texts of a form as values of a payload, by what each field of the collection holds. */
export const payloadOf = (fields: Fields, collection: Collection): Payload =>
  // Own members whatever their names are: `__proto__` is a field that nobody has.
  Object.fromEntries([...fields].map(([name, text]) => [name, asValue(name, collection.fields.get(name), text)]));

function asValue(name: string, field: Field | undefined, text: string): unknown {
  if (text === 'null') return null;
  if (!field) return plain(text);
  const isTree = field.type === 'json' || field.type.startsWith('geometry') || field.column?.array || field.relation;
  if (isTree && /^\s*[[{]/.test(text)) return parsed(name, text);
  // An empty control of a form stands for no value where no text can be one.
  if (text === '' && field.column && !TEXTS.includes(field.type)) return null;
  if (field.column?.array || (field.type === 'json' && isTags(field))) return listed(text);
  if (field.type === 'json') return scalar(text);
  return TEXTS.includes(field.type) ? text : plain(text);
}

const isTags = ({ name, meta }: Field): boolean => name === 'tags' || meta?.interface === 'tags';

const listed = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

const plain = (text: string): string | boolean => (text === 'true' ? true : text === 'false' ? false : text);

/** A number or a quoted text is one; what is no JSON is the text it is. */
function scalar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parsed(name: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    checkJson(value, text, name);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw fail('INVALID_PAYLOAD', `${name} is no JSON.`, { field: name, path: [name] });
  }
}
