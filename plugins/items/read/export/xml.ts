import { keptNumber, parseExact } from './exact.ts';
import type { Writer } from './formats.ts';

/**
 * `<data>` holds one `<data>` a row, which holds an element a field; lists are an element a member. Written by hand:
 * builders that take plain objects give names such as `#text` a meaning of their own, and here a name can be anything.
 */
export const xmlWriter = (): Writer => ({
  begin: '<?xml version="1.0" encoding="UTF-8"?>\n<data>\n',
  rows: (batch) => batch.map((text) => element('data', parseExact(text), '\t')).join(''),
  end: '</data>\n',
  none: '<?xml version="1.0" encoding="UTF-8"?>\n<data/>\n',
});

function element(name: string, value: unknown, indent: string): string {
  if (Array.isArray(value)) return value.map((one) => element(name, one, indent)).join('');
  const number = keptNumber(value);
  if (number === undefined && typeof value === 'object' && value !== null) {
    const inner = Object.entries(value).map(([key, one]) => element(nameOf(key), one, `${indent}\t`));
    return `${indent}<${name}>\n${inner.join('')}${indent}</${name}>\n`;
  }
  const text = number ?? (value === null ? '' : String(value));
  return text === '' ? `${indent}<${name}/>\n` : `${indent}<${name}>${escaped(text)}</${name}>\n`;
}

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
// Characters that may not stand in a document at all, not even escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>\r]/g, (one) => SPECIAL[one] as string);

/** A name that is one in XML too: what may not stand in it becomes `_`. */
function nameOf(key: string): string {
  const name = key.replace(/[^\p{L}\p{N}_.-]/gu, '_');
  return /^[\p{L}_]/u.test(name) ? name : `_${name}`;
}
