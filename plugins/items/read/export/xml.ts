import { exactNumberText, parseExact } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/**
 * `<data>` holds one `<data>` a row, which holds an element a field; lists are an element a member. Written by hand:
 * builders that take plain objects give names such as `#text` a meaning of their own, and here a name can be anything.
 */
export const createXmlWriter = (): ExportWriter => ({
  begin: '<?xml version="1.0" encoding="UTF-8"?>\n<data>\n',
  rows: (batch) => batch.map((text) => renderElement('data', parseExact(text), '\t')).join(''),
  end: '</data>\n',
  empty: '<?xml version="1.0" encoding="UTF-8"?>\n<data/>\n',
});

function renderElement(name: string, value: unknown, indent: string): string {
  if (Array.isArray(value)) return value.map((one) => renderElement(name, one, indent)).join('');
  const number = exactNumberText(value);
  if (number === undefined && typeof value === 'object' && value !== null) {
    const inner = Object.entries(value).map(([key, one]) => renderElement(toXmlName(key), one, `${indent}\t`));
    return `${indent}<${name}>\n${inner.join('')}${indent}</${name}>\n`;
  }
  const text = number ?? (value === null ? '' : String(value));
  return text === '' ? `${indent}<${name}/>\n` : `${indent}<${name}>${escapeXml(text)}</${name}>\n`;
}

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
// Characters that may not stand in a document at all, not even escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const INVALID_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(INVALID_CHARACTERS, '\ufffd')
    .replace(/[&<>\r]/g, (one) => SPECIAL[one] as string);

/** What a name may begin with and what may follow, without the colon, which names a namespace (XML 1.0, 2.3). */
const NAME_START =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
const VALID_START = new RegExp(`^[${NAME_START}]`, 'u');
const INVALID_IN_NAME = new RegExp(`[^${NAME_START}0-9.\\u00b7\\u0300-\\u036f\\u203f\\u2040-]`, 'gu');

/** A name that is one in XML too: what may not stand in it becomes `_`. */
function toXmlName(key: string): string {
  const name = key.replace(INVALID_IN_NAME, '_');
  return VALID_START.test(name) ? name : `_${name}`;
}
