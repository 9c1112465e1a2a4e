import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../http/contract.ts';

/** What of a value does not match its schema: the first mismatch alone, so that no value makes many. */
export interface ExchangeMismatch {
  readonly path: readonly string[];
  /** One sentence, which begins with the path. */
  readonly message: string;
}

/** Checks a request to an endpoint or an answer of it; undefined where it matches. */
export type ExchangeValidator = (value: object) => ExchangeMismatch | undefined;

/** Parts of a path, and characters of each. */
const MAX_DEPTH = 20;
const MAX_NAME = 200;

/** Formats are for documents alone. The manifest was checked: the schema has no patterns and no references. */
const options = { strict: false, validateFormats: false, validateSchema: false, allErrors: false } as const;

/** Compiles a schema that a manifest declares. */
export function createExchangeValidator(schema: JsonSchema): ExchangeValidator {
  const validate = new Ajv2020(options).compile(schema);
  return (value) => {
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    const { instancePath = '', message = 'does not match the schema', params, keyword } = error ?? {};
    const path = instancePath.split('/', MAX_DEPTH).slice(1).map(decodePointerPart);
    const name = keyword === 'additionalProperties' ? ` "${String(params?.additionalProperty).slice(0, 100)}"` : '';
    const place = path.length === 0 ? 'The value' : `"${path.join('.').slice(0, 200)}"`;
    return { path, message: `${place} ${message}${name}.` };
  };
}

/** Names in a path may be those of the client, of any length. */
const decodePointerPart = (part: string): string => part.slice(0, MAX_NAME).replaceAll('~1', '/').replaceAll('~0', '~');
