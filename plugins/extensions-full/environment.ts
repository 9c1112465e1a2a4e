import type { PackagesApi } from '#kernel';

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/**
 * All settings by name, as values, for packages with full authority: declared settings as their owners read them, but
 * durations and sizes as they are written; the type of all others follows from the text (true, 12, a,b,c).
 */
export function parseExtensionEnvironment(
  settings: ReturnType<PackagesApi['settings']>,
): Readonly<Record<string, unknown>> {
  const written = Object.entries(settings.source).filter(([, text]) => text !== undefined && text !== '');
  const parsed: Record<string, unknown> = Object.fromEntries(
    written.map(([name, text]) => [name, parseValue(text as string)]),
  );
  for (const { name, key, value } of settings.declared()) {
    const isWritten = name in parsed && (key.type === 'duration' || key.type === 'size');
    if (!isWritten && !name.endsWith('*') && value !== undefined) parsed[name] = value;
  }
  return Object.freeze(parsed);
}

function parseValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (NUMBER.test(text)) return Number(text);
  return text.includes(',') ? text.split(',').map((part) => part.trim()) : text;
}
