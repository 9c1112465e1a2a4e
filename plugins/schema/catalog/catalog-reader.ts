import { createHash } from 'node:crypto';
import { type Db, DISABLE_STATEMENT_TIMEOUT_SQL } from '../../database/contract.ts';
import { type CatalogContent, parseCatalogContent } from './parse-catalog-content.ts';
import { renderCatalogStatement, renderFingerprintStatement } from './statement.ts';

export interface CatalogReadResult {
  readonly fingerprint: string;
  /** A hash that is equal for equal content. */
  readonly digest: string;
  content(): CatalogContent;
}

/** Reads the catalogs and the registry tables of the database. */
export interface CatalogReader {
  fingerprint(): Promise<string>;
  read(): Promise<CatalogReadResult>;
}

interface CatalogRow {
  readonly fingerprint: string;
  readonly content: string;
}

export function createCatalogReader(
  db: Pick<Db, 'query' | 'schemas' | 'transaction' | 'isInUnitOfWork'>,
): CatalogReader {
  const first = db.schemas[0] as string;
  const catalogSql = renderCatalogStatement(first);
  const fingerprintSql = renderFingerprintStatement(first);
  const params = [db.schemas];

  const readRow = async (): Promise<CatalogRow> => {
    const { rows } = await db.query<CatalogRow>(catalogSql, params, { name: 'schema-catalog' });
    return rows[0] as CatalogRow;
  };

  /**
   * DB_STATEMENT_TIMEOUT is for requests: the time of this statement grows with the number of tables, and with a short timeout
   * the service could not start. A unit of work keeps the timeout of its own.
   */
  const readWithoutTimeout = (): Promise<CatalogRow> =>
    db.isInUnitOfWork()
      ? readRow()
      : db.transaction(async () => {
          await db.query(DISABLE_STATEMENT_TIMEOUT_SQL);
          return readRow();
        });

  const read = async (): Promise<CatalogReadResult> => {
    const { fingerprint, content } = await readWithoutTimeout();
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
