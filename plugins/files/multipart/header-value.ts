import { fail } from '#kernel';

/** The value of a header and its parameters, names in lower case. */
export interface HeaderValue {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const PARAMETER = /\s*;\s*(?:([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*)))?/sy;

/** Parses `form-data; name="a"; filename="b.txt"`. @throws INVALID_PAYLOAD if it is malformed. */
export function parseHeaderValue(header: string): HeaderValue {
  const end = header.indexOf(';');
  const parameters = new Map<string, string>();
  let at = end < 0 ? header.length : end;
  while (header.slice(at).trim() !== '') {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (!found) throw fail('INVALID_PAYLOAD', 'A header of the form cannot be read.');
    at = PARAMETER.lastIndex;
    const [, name, quoted, plain = ''] = found;
    // Only quotes and backslashes are escaped: other backslashes are path separators of old clients, which send whole paths.
    const value = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain;
    if (name !== undefined && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return { value: (end < 0 ? header : header.slice(0, end)).trim().toLowerCase(), parameters };
}

/** Decodes `filename*=UTF-8''caf%C3%A9.png`, which some clients send. */
export function decodeExtendedHeaderParameter(value: string | undefined): string | undefined {
  const [, charset = '', text = ''] = /^([\w-]+)'[^']*'(.*)$/.exec(value ?? '') ?? [];
  if (charset.toLowerCase() !== 'utf-8') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
