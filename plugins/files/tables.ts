import { type Db, identifier } from '../database/contract.ts';

/** The service's own tables by their short names, quoted and with their schema. */
export const table = (db: Pick<Db, 'schemas'>, name: 'files' | 'loose_objects'): string =>
  `${identifier(db.schemas[0] as string)}.platform_${name}`;
