import { createHash } from 'node:crypto';
import type { Db } from '../../database/contract.ts';
import { type CatalogContent, parseCatalogContent } from './content.ts';
import { renderCatalogStatement, renderFingerprintStatement } from './statement.ts';

export interface CatalogReading {
  readonly fingerprint: string;
  /** A hash that is equal for equal content. */
  readonly digest: string;
  content(): CatalogContent;
}

/** Reads the catalogs and the registry tables of the database. */
export interface CatalogSource {
  fingerprint(): Promise<string>;
  read(): Promise<CatalogReading>;
}

export function createCatalogSource(db: Pick<Db, 'query' | 'schemas'>): CatalogSource {
  const first = db.schemas[0] as string;
  const catalogSql = renderCatalogStatement(first);
  const fingerprintSql = renderFingerprintStatement(first);
  const params = [db.schemas];

  const read = async (): Promise<CatalogReading> => {
    const { rows } = await db.query<{ fingerprint: string; content: string }>(catalogSql, params, {
      name: 'schema-catalog',
    });
    const { fingerprint, content } = rows[0] as { fingerprint: string; content: string };
    return {
      fingerprint,
      digest: createHash('sha1').update(content).digest('base64url'),
      content: () => parseCatalogContent(content),
    };
  };
  return {
    async fingerprint() {
      const { rows } = await db.query<{ fingerprint: string }>(fingerprintSql, params, { name: 'schema-fingerprint' });
      return rows[0]?.fingerprint ?? '';
    },
    read,
  };
}
