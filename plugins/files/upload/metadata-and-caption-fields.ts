import type { Payload } from '../../items/contract.ts';
import type { FileInspection } from '../../media/contract.ts';
import { shortenTitle } from '../names/title.ts';

/** The metadata that FILE_METADATA_ALLOW_LIST allows: `group.Name`, or `*` for all of it. */
export function filterAllowedFileMetadata(
  metadata: FileInspection['metadata'],
  allowed: readonly string[],
): Payload | null {
  if (!metadata) return null;
  if (allowed.includes('*')) return toStorable(metadata);
  const kept: Record<string, Record<string, unknown>> = {};
  for (const entry of allowed) {
    const dot = entry.indexOf('.');
    const [group, name] = [entry.slice(0, dot), entry.slice(dot + 1)];
    const value = Object.hasOwn(metadata, group) ? metadata[group]?.[name] : undefined;
    if (value !== undefined) kept[group] = { ...kept[group], [name]: value };
  }
  return toStorable(kept);
}

/** Title, description and tags from the IPTC data of an image. */
export function extractIptcCaptions({ metadata }: FileInspection): Payload {
  const { iptc = {} } = metadata ?? {};
  const title = toText(iptc.Headline);
  const description = toText(iptc.Caption);
  const tags = [iptc.Keywords].flat().flatMap((one) => toText(one) ?? []);
  return {
    ...(title === undefined ? {} : { title: shortenTitle(title) }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length > 0 ? { tags } : {}),
  };
}

const toText = (value: unknown): string | undefined =>
  typeof value === 'string' ? toStorableText(value).trim() || undefined : undefined;

/** PostgreSQL stores neither NUL characters nor lone surrogates. */
const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');

const toStorable = (found: object): Payload =>
  JSON.parse(JSON.stringify(found), (_name, value: unknown) =>
    typeof value === 'string' ? toStorableText(value) : value,
  );
