import type { Db, GrantedSqlStatement } from '../database/contract.ts';
import { type ComplexAttribute, createSingleValue } from './filter/attributes.ts';
import type { ResourceMember } from './resource-sql.ts';

/** The SQL of what `meta` of a resource shows (RFC 7643, section 3.1). */
interface MetaSql {
  readonly created: GrantedSqlStatement;
  readonly modified: GrantedSqlStatement;
  readonly location: GrantedSqlStatement;
  readonly version: GrantedSqlStatement;
}

const tagOf = (db: Db, version: GrantedSqlStatement): GrantedSqlStatement => db.sql`'W/"' || ${version} || '"'`;

/** A time as SCIM has it (RFC 7643, section 2.3.5), in UTC with milliseconds. */
const renderTime = (db: Db, sql: GrantedSqlStatement): GrantedSqlStatement =>
  db.sql`to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const metaMember = (db: Db, resourceType: string, meta: MetaSql): ResourceMember => ({
  name: 'meta',
  members: [
    { name: 'resourceType', sql: db.sql`${db.literal(resourceType)}::text` },
    { name: 'created', sql: renderTime(db, meta.created) },
    { name: 'lastModified', sql: renderTime(db, meta.modified) },
    { name: 'location', sql: meta.location },
    { name: 'version', sql: tagOf(db, meta.version) },
  ],
});

export const metaAttribute = (db: Db, resourceType: string, meta: MetaSql): ComplexAttribute =>
  createSingleValue(
    db,
    {
      resourcetype: { type: 'exact', sql: db.sql`${db.literal(resourceType)}::text` },
      // Answers show milliseconds, and a client compares with what it was shown.
      created: { type: 'time', sql: db.sql`date_trunc('milliseconds', ${meta.created})` },
      lastmodified: { type: 'time', sql: db.sql`date_trunc('milliseconds', ${meta.modified})` },
      location: { type: 'exact', sql: meta.location },
      version: { type: 'exact', sql: tagOf(db, meta.version) },
    },
    db.sql`true`,
  );
