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

/** Which MIME types a list of patterns such as `image/*` lets in. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  const one = (pattern: string) => {
    const text = pattern === '*' ? '*/*' : pattern.toLowerCase();
    return text.replace(/[^a-z0-9*]/g, '\\$&').replaceAll('*', '.*');
  };
  const matcher = new RegExp(`^(?:${patterns.map(one).join('|')})$`);
  return (type) => patterns.length > 0 && matcher.test(type);
}
