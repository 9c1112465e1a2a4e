import { exactNumberText, parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/**
 * `<data>` holds one `<data>` for each row, which holds one element for each field; each member of a list is an
 * element. Rendered by hand: libraries that take plain objects give names such as `#text` a special meaning, and here a
 * name can be any text.
 */
export const createXmlWriter = (): ExportWriter => ({
  begin: '<?xml version="1.0" encoding="UTF-8"?>\n<data>\n',
  rows: (batch) => batch.map((text) => renderElement('data', parseExactJson(text), '\t')).join(''),
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
// Characters that an XML document may not contain, not even escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const INVALID_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(INVALID_CHARACTERS, '\ufffd')
    .replace(/[&<>\r]/g, (one) => SPECIAL[one] as string);

/** Characters that a name may begin with, without the colon, which separates a namespace (XML 1.0, 2.3). */
const NAME_START =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
const VALID_START = new RegExp(`^[${NAME_START}]`, 'u');
const INVALID_IN_NAME = new RegExp(`[^${NAME_START}0-9.\\u00b7\\u0300-\\u036f\\u203f\\u2040-]`, 'gu');

/** The key as a valid XML name: each invalid character is replaced by `_`. */
function toXmlName(key: string): string {
  const name = key.replace(INVALID_IN_NAME, '_');
  return VALID_START.test(name) ? name : `_${name}`;
}
