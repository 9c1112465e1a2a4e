/** How a plugin declares a setting in its manifest, under `config.<NAME>`. */
export interface ConfigKey {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'duration' | 'size' | 'json';
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Its value is never shown, and other plugins cannot share it. */
  readonly secret?: boolean;
  /** One line for the administrator. */
  readonly about?: string;
}

/** A setting whose text is not of the declared type. The message follows the name of the setting: "must be a whole number". */
export class CastError extends Error {}

/** Converts an environment variable to its declared type: durations to milliseconds, sizes to bytes. @throws CastError */
export function castSetting(text: string, key: ConfigKey): unknown {
  const value = PARSERS[key.type](text.trim());
  if (key.enum && !key.enum.includes(String(value))) throw new CastError(`must be one of ${key.enum.join(', ')}`);
  if (typeof value === 'number') {
    if (key.minimum !== undefined && value < key.minimum) throw new CastError(`must be at least ${key.minimum}`);
    if (key.maximum !== undefined && value > key.maximum) throw new CastError(`must be at most ${key.maximum}`);
  }
  return value;
}

type Units = Readonly<Record<string, number | null>>;
const DURATION: Units = { __proto__: null, '': 1, ms: 1, s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8 };
const SIZE: Units = { __proto__: null, '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const PARSERS: Readonly<Record<ConfigKey['type'], (text: string) => unknown>> = {
  string: (text) => text,
  integer: (text) => Number(assertMatches(text, /^-?\d{1,15}$/, 'must be a whole number')),
  number: (text) =>
    Number(assertMatches(text, { test: (one) => Number.isFinite(Number(one || Number.NaN)) }, 'must be a number')),
  boolean: (text) => /^(true|1)$/i.test(assertMatches(text, /^(true|false|1|0)$/i, 'must be true or false')),
  array: (text) => (text === '' ? [] : text.split(',').map((part) => part.trim())),
  duration: (text) => parseWithUnit(text, DURATION, 'must be a duration such as 500, 15m or 7d'),
  size: (text) => parseWithUnit(text, SIZE, 'must be a size such as 500, 10kb or 1mb'),
  json(text) {
    try {
      return JSON.parse(text);
    } catch {
      throw new CastError('must be JSON');
    }
  },
};

function assertMatches(text: string, pattern: { test(text: string): boolean }, problem: string): string {
  if (!pattern.test(text)) throw new CastError(problem);
  return text;
}

function parseWithUnit(text: string, units: Units, problem: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? [];
  const factor = units[unit.toLowerCase()];
  if (number === undefined || !factor) throw new CastError(problem);
  return Number(number) * factor;
}
