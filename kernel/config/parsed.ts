import type { Config, Declarations, Environment } from './read.ts';

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/**
 * All settings by name, as values: declared ones as their owners read them, but durations and sizes as they are written;
 * all others by their looks (true, 12, a,b,c).
 */
export function parsedEnvironment(
  environment: Environment,
  { values, file }: Config,
  declared: Declarations,
): Readonly<Record<string, unknown>> {
  const written = Object.entries({ ...environment, ...file }).filter(([, text]) => text !== undefined && text !== '');
  const parsed: Record<string, unknown> = Object.fromEntries(
    written.map(([name, text]) => [name, guessed(text as string)]),
  );
  for (const [name, { key }] of declared) {
    const isWritten = name in parsed && (key.type === 'duration' || key.type === 'size');
    const value = values.get(name);
    if (!isWritten && !name.endsWith('*') && value !== undefined) parsed[name] = value;
  }
  return parsed;
}

function guessed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (NUMBER.test(text)) return Number(text);
  return text.includes(',') ? text.split(',').map((part) => part.trim()) : text;
}
