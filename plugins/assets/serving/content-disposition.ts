import { create } from 'content-disposition';

/** Renders Content-Disposition (RFC 6266): `inline` or `attachment`, with the name in a form that every browser reads. */
export const renderContentDisposition = (download: boolean, name: string): string =>
  withQuotes(create(cleanName(name), { type: download ? 'attachment' : 'inline' }));

/** The library omits optional quotes; some clients require them. */
const withQuotes = (header: string): string => header.replace(/; filename=([^"][^;]*)/, '; filename="$1"');

/** Replaces path separators and removes invisible characters. */
const cleanName = (name: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  const clean = name.replace(/[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g, '').replace(/[/\\]/g, '_');
  return clean === '' ? 'file' : clean;
};

/** The same name with another extension. */
export const replaceExtension = (name: string, extension: string): string =>
  `${name.replace(/(?<=[^.])\.[a-z0-9]{1,16}$/i, '')}.${extension}`;
