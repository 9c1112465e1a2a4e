/** How a plugin declares a setting in its manifest, under `config.<NAME>`. */
export interface ConfigKey {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'duration' | 'size' | 'json';
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Never shown, not even in the audit's list of keys' values. */
  readonly secret?: boolean;
  /** One line for the administrator. */
  readonly about?: string;
}

export class CastError extends Error {}

type Units = Readonly<Record<string, number | null>>;
const DURATION: Units = { __proto__: null, ms: 1, s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8 };
const SIZE: Units = { __proto__: null, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** Text from the environment as the declared type; durations in milliseconds, sizes in bytes. */
export function cast(text: string, key: ConfigKey): unknown {
  const value = castType(text.trim(), key.type);
  if (key.enum && !key.enum.includes(String(value))) throw new CastError(`must be one of ${key.enum.join(', ')}`);
  if (typeof value === 'number') {
    if (key.minimum !== undefined && value < key.minimum) throw new CastError(`must be at least ${key.minimum}`);
    if (key.maximum !== undefined && value > key.maximum) throw new CastError(`must be at most ${key.maximum}`);
  }
  return value;
}

function castType(text: string, type: ConfigKey['type']): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      if (!/^-?\d{1,15}$/.test(text)) throw new CastError('must be a whole number');
      return Number(text);
    case 'number':
      if (text === '' || !Number.isFinite(Number(text))) throw new CastError('must be a number');
      return Number(text);
    case 'boolean':
      if (!/^(true|false|1|0)$/i.test(text)) throw new CastError('must be true or false');
      return /^(true|1)$/i.test(text);
    case 'array':
      return text === '' ? [] : text.split(',').map((part) => part.trim());
    case 'duration':
      return withUnit(text, DURATION, 'ms', 'must be a duration such as 500, 15m or 7d');
    case 'size':
      return withUnit(text, SIZE, 'b', 'must be a size such as 500, 10kb or 1mb');
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new CastError('must be JSON');
      }
  }
}

function withUnit(text: string, units: Units, bare: string, complaint: string): number {
  const parts = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
  const unit = units[(parts?.[2] || bare).toLowerCase()];
  if (!parts || !unit) throw new CastError(complaint);
  return Number(parts[1]) * unit;
}
