import type { Column, FieldType } from './contract.ts';

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const QUOTED = /^(E?)'((?:[^']|'')*)'(?:::.+)?$/s;

/** Parses the default of a column for the API: the value of a literal, else the text of the expression. */
export function parseColumnDefault(type: FieldType, column: Column): unknown {
  const text = column.default;
  if (text === null || /^null(::.+)?$/i.test(text)) return null;
  if (text === 'true' || text === 'false') return text === 'true';
  // PostgreSQL prints negative literals as ('-1'::integer) or (-1).
  const inner = /^\((.*)\)(?:::.+)?$/s.exec(text)?.[1] ?? text;
  const quoted = QUOTED.exec(inner);
  const bare = quoted ? unquote(quoted) : inner.replace(/::[\w ]+(\(\d+(,\d+)?\))?$/, '');
  if (!quoted && !NUMBER.test(bare)) return text;
  if (column.array) return parseArrayLiteral(column, bare);
  switch (type) {
    case 'integer':
    case 'float':
      return NUMBER.test(bare) ? Number(bare) : bare;
    case 'json':
      return parseJsonOrText(bare);
    case 'binary':
      return bare.startsWith('\\x') ? Buffer.from(bare.slice(2), 'hex').toString('base64') : bare;
    case 'csv':
      return bare === '' ? [] : bare.split(',');
    default:
      return bare;
  }
}

/** Whether the default of a column is an expression, such as `now()`, and no literal. */
export function isExpressionDefault({ default: text, autoIncrement }: Column): boolean {
  if (text === null || autoIncrement || text === 'true' || text === 'false' || /^null(::.+)?$/i.test(text))
    return false;
  const inner = /^\((.*)\)(?:::.+)?$/s.exec(text)?.[1] ?? text;
  return !QUOTED.test(inner) && !NUMBER.test(inner.replace(/::[\w ]+(\(\d+(,\d+)?\))?$/, ''));
}

function unquote([, escaped, body = '']: RegExpExecArray): string {
  const text = body.replaceAll("''", "'");
  return escaped ? text.replaceAll('\\\\', '\\') : text;
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,]+)/gs;

/** Parses `{a,"b c",NULL}`. Nested arrays and arrays with explicit bounds stay text. */
function parseArrayLiteral({ element }: Column, text: string): unknown {
  const inner = /^\{([^{}]*)\}$/s.exec(text)?.[1];
  if (inner === undefined) return text;
  return [...inner.matchAll(ELEMENT)].map(([, quoted, plain = '']) => {
    if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1');
    if (plain.toUpperCase() === 'NULL') return null;
    if (element?.type === 'boolean') return plain === 't';
    return (element?.type === 'integer' || element?.type === 'float') && NUMBER.test(plain) ? Number(plain) : plain;
  });
}
