import { createHash } from 'node:crypto';
import type { Db } from '../../database/contract.ts';
import { type Content, parseContent } from './content.ts';
import { catalogStatement, fingerprintStatement } from './statement.ts';

export interface Reading {
  readonly fingerprint: string;
  /** Equal for equal content. */
  readonly digest: string;
  content(): Content;
}

/** The database's catalogs and registry tables, as far as the overview needs them. */
export interface Source {
  fingerprint(): Promise<string>;
  read(): Promise<Reading>;
}

export function createSource(db: Pick<Db, 'query' | 'schemas'>): Source {
  const first = db.schemas[0] as string;
  const whole = catalogStatement(first);
  const check = fingerprintStatement(first);
  const params = [db.schemas];

  const read = async (): Promise<Reading> => {
    const { rows } = await db.query<{ fingerprint: string; content: string }>(whole, params, {
      name: 'schema-catalog',
    });
    const { fingerprint, content } = rows[0] as { fingerprint: string; content: string };
    return {
      fingerprint,
      digest: createHash('sha1').update(content).digest('base64url'),
      content: () => parseContent(content),
    };
  };
  return {
    async fingerprint() {
      const { rows } = await db.query<{ fingerprint: string }>(check, params, { name: 'schema-fingerprint' });
      return rows[0]?.fingerprint ?? '';
    },
    read,
  };
}
