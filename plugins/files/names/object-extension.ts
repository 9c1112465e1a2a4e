import { extension as extensionOfType } from 'mime-types';

/** The extension of the object, without the dot: that of the name if it is valid, else the usual one of the MIME type. */
export function fileExtensionForStoredObject(name: string | undefined, type: string | undefined): string | undefined {
  const own = /\.([a-z0-9]{1,16})$/.exec(name?.toLowerCase() ?? '')?.[1];
  return own ?? (type === undefined ? undefined : extensionOfType(type) || undefined);
}
