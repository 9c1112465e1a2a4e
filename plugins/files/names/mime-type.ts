import { lookup } from 'mime-types';

export interface MimeType {
  /** In lower case, without parameters. */
  readonly type: string;
  readonly charset: string | undefined;
}

const TYPE = /^\s*([a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127})\s*(?:;(.*))?$/is;

/** Parses a MIME type; undefined if it is not valid. */
export function parseMimeType(text: unknown): MimeType | undefined {
  const [, type, rest = ''] = (typeof text === 'string' && TYPE.exec(text)) || [];
  if (type === undefined) return undefined;
  const [, quoted, plain] = /(?:^|;)\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(rest) ?? [];
  const charset = (quoted ?? plain)?.toLowerCase();
  return { type: type.toLowerCase(), charset: charset && charset.length <= 50 ? charset : undefined };
}

export const guessMimeTypeByFilename = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : lookup(name) || undefined;

/** A filter by patterns such as `image/*`. The pattern for all types also allows text that is no MIME type. */
export function createMimeTypeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.includes('*/*') || patterns.includes('*')) return () => true;
  const one = (pattern: string) =>
    pattern
      .toLowerCase()
      .replace(/[^a-z0-9*]/g, '\\$&')
      .replaceAll('*', '.*');
  const matcher = new RegExp(`^(?:${patterns.map(one).join('|')})$`);
  return (type) => patterns.length > 0 && matcher.test(type);
}
