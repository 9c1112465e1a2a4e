import { lookup } from 'mime-types';

export interface DeclaredType {
  /** In lower case, without parameters. */
  readonly type: string;
  readonly charset: string | undefined;
}

const TYPE = /^\s*([a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127})\s*(?:;(.*))?$/is;

/** A MIME type as somebody wrote it; undefined for what is none. */
export function declaredType(text: unknown): DeclaredType | undefined {
  const [, type, rest = ''] = (typeof text === 'string' && TYPE.exec(text)) || [];
  if (type === undefined) return undefined;
  const [, quoted, plain] = /(?:^|;)\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(rest) ?? [];
  const charset = (quoted ?? plain)?.toLowerCase();
  return { type: type.toLowerCase(), charset: charset && charset.length <= 50 ? charset : undefined };
}

export const typeByName = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : lookup(name) || undefined;

/** Which MIME types a list of patterns such as `image/*` lets in. What lets in all of them lets in what is none, too. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.includes('*/*') || patterns.includes('*')) return () => true;
  const one = (pattern: string) =>
    pattern
      .toLowerCase()
      .replace(/[^a-z0-9*]/g, '\\$&')
      .replaceAll('*', '.*');
  const matcher = new RegExp(`^(?:${patterns.map(one).join('|')})$`);
  return (type) => patterns.length > 0 && matcher.test(type);
}
