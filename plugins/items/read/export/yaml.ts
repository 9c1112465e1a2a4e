import { exactNumberText, parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/** Texts that need no quotes. YAML 1.1 reads some more words as booleans. */
const PLAIN_KEY = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z_][\w-]*$/i;
const PLAIN_TEXT = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z](?:[\w ./()-]*[\w./()])?$/i;

/**
 * Writes rows as a YAML list of blocks. Numbers keep their digits. Most texts are written as in JSON, which YAML 1.2 reads alike: libraries
 * make a tree of objects of what they render, which took three times as long and 30 MiB more for a million rows.
 */
export const createYamlWriter = (): ExportWriter => ({
  begin: '',
  rows: (batch) => batch.map((text) => `- ${renderBlock(parseExactJson(text), '  ')}\n`).join(''),
  end: '',
  empty: '[]\n',
});

/** Renders a value that begins behind a dash or a key, of which all further lines begin with `indent`. */
function renderBlock(value: unknown, indent: string): string {
  if (typeof value === 'string' && PLAIN_TEXT.test(value)) return value;
  if (!isObject(value)) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const entries = value.map((entry) => `- ${renderBlock(entry, `${indent}  `)}`);
    return entries.join(`\n${indent}`) || '[]';
  }
  const members = Object.entries(value).map(([key, member]) => {
    const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
    return `${name}:${isBlock(member) ? `\n${indent}  ` : ' '}${renderBlock(member, `${indent}  `)}`;
  });
  return members.join(`\n${indent}`) || '{}';
}

/** True for what is rendered in lines of its own. */
const isBlock = (value: unknown): boolean => isObject(value) && Object.keys(value).length > 0;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && exactNumberText(value) === undefined;
