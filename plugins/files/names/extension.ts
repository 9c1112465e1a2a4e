import { extension as extensionOfType } from 'mime-types';

/** Of the object in storage, without the dot: the name's own where it is a sane one, else the usual one of the MIME type. */
export function extensionFor(name: string | undefined, type: string | undefined): string | undefined {
  const own = /\.([a-z0-9]{1,16})$/.exec(name?.toLowerCase() ?? '')?.[1];
  return own ?? (type === undefined ? undefined : extensionOfType(type) || undefined);
}
