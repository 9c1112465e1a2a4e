import type { Payload } from '../../items/contract.ts';
import type { Inspected } from '../../media/contract.ts';
import { shortened } from '../names/title.ts';

/** What of a file's own data is kept, by FILE_METADATA_ALLOW_LIST: `group.Name`, or `*` for all of it. */
export function keptMetadata(found: Inspected['metadata'], allowed: readonly string[]): Payload | null {
  if (!found) return null;
  if (allowed.includes('*')) return storable(found);
  const kept: Record<string, Record<string, unknown>> = {};
  for (const entry of allowed) {
    const dot = entry.indexOf('.');
    const [group, name] = [entry.slice(0, dot), entry.slice(dot + 1)];
    const value = Object.hasOwn(found, group) ? found[group]?.[name] : undefined;
    if (value !== undefined) kept[group] = { ...kept[group], [name]: value };
  }
  return storable(kept);
}

/** What a photographer wrote into the picture, for fields about which the sender says nothing. */
export function captions({ metadata }: Inspected): Payload {
  const { iptc = {} } = metadata ?? {};
  const title = textOf(iptc.Headline);
  const description = textOf(iptc.Caption);
  const tags = [iptc.Keywords].flat().flatMap((one) => textOf(one) ?? []);
  return {
    ...(title === undefined ? {} : { title: shortened(title) }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length > 0 ? { tags } : {}),
  };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? storableText(value).trim() || undefined : undefined;

/** PostgreSQL keeps neither zero characters nor halves of letters. */
const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');

const storable = (found: object): Payload =>
  JSON.parse(JSON.stringify(found), (_name, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  );
