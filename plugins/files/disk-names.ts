import { randomBytes } from 'node:crypto';

/**
 * A name no object has had before: an object never changes its bytes, so that whoever reads or caches one need not look again.
 * The plain `<id>.<ext>` is for an id that was made up just now; one that somebody chose may have been used already.
 */
export function objectName(id: string, extension: string | undefined, isNewId: boolean): string {
  const stem = isNewId ? id : `${id}-${randomBytes(4).toString('hex')}`;
  return extension === undefined ? stem : `${stem}.${extension}`;
}

const OURS =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-[0-9a-f]{8})?)(?:__[A-Za-z0-9_-]+)?(?:\.[a-z0-9]{1,16})?$/;

/** The stem of an object's name that we made, of a variant that of its source; undefined for what somebody else put there. */
export const stemOf = (name: string): string | undefined => OURS.exec(name)?.[1];
