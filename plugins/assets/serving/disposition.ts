import { create } from 'content-disposition';

/** `inline` or `attachment`, with the name in a form that every browser reads (RFC 6266). */
export const disposition = (download: boolean, name: string): string =>
  quoted(create(cleaned(name), { type: download ? 'attachment' : 'inline' }));

/** The library leaves the quotes out where they may be; some clients look for nothing else. */
const quoted = (header: string): string => header.replace(/; filename=([^"][^;]*)/, '; filename="$1"');

/** A name has no folders in it, and nothing that does not show. */
const cleaned = (name: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
  const clean = name.replace(/[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g, '').replace(/[/\\]/g, '_');
  return clean === '' ? 'file' : clean;
};

/** The same name with another extension. */
export const renamed = (name: string, extension: string): string =>
  `${name.replace(/(?<=[^.])\.[a-z0-9]{1,16}$/i, '')}.${extension}`;
