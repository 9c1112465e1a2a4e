import { fail } from '#kernel';

/** A header's value and its parameters, names in lower case. */
export interface Parameterised {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const PARAMETER = /\s*;\s*(?:([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*)))?/sy;

/** `form-data; name="a"; filename="b.txt"`. INVALID_PAYLOAD for what does not read so to its end. */
export function parameterised(header: string): Parameterised {
  const end = header.indexOf(';');
  const parameters = new Map<string, string>();
  let at = end < 0 ? header.length : end;
  while (header.slice(at).trim() !== '') {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (!found) throw fail('INVALID_PAYLOAD', 'A header of the form cannot be read.');
    at = PARAMETER.lastIndex;
    const [, name, quoted, plain = ''] = found;
    // Only these two are escaped: other backslashes stand in names of old clients, which send whole paths.
    const value = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain;
    if (name !== undefined && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return { value: (end < 0 ? header : header.slice(0, end)).trim().toLowerCase(), parameters };
}

/** `filename*=UTF-8''caf%C3%A9.png`, which some clients send although forms do not need it. */
export function extended(value: string | undefined): string | undefined {
  const [, charset = '', text = ''] = /^([\w-]+)'[^']*'(.*)$/.exec(value ?? '') ?? [];
  if (charset.toLowerCase() !== 'utf-8') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
