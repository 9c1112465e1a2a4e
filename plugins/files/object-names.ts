import { randomBytes } from 'node:crypto';

/**
 * A name that no object had before. The bytes behind a name never change, so readers and caches need not check them again.
 * `<id>.<ext>` is for a generated id; a chosen id may have been used already and gets a random suffix.
 */
export function createObjectName(id: string, extension: string | undefined, isNewId: boolean): string {
  const stem = isNewId ? id : `${id}-${randomBytes(4).toString('hex')}`;
  return extension === undefined ? stem : `${stem}.${extension}`;
}

const OBJECT_NAME =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-[0-9a-f]{8})?)(?:__[A-Za-z0-9_-]+)?(?:\.[a-z0-9]{1,16})?$/;

/** The stem of an object name, for a variant that of its source; undefined for a name that the service does not create. */
export const parseObjectNameStem = (name: string): string | undefined => OBJECT_NAME.exec(name)?.[1];
