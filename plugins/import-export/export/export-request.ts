import { fail } from '#kernel';
import type { ExportFormatName } from '../../items/contract.ts';
import { EXPORT_FORMATS } from '../../items/library.ts';
import type { RawQuery } from '../../query/contract.ts';
import type { ExportRequest } from '../contract.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses the body of an export. @throws INVALID_PAYLOAD */
export function parseExportRequest(body: unknown): ExportRequest {
  const { query, format, file } = isObject(body) ? body : {};
  if (!isObject(query)) throw fail('INVALID_PAYLOAD', '"query" must be an object.', { path: ['query'] });
  if (typeof format !== 'string' || !Object.hasOwn(EXPORT_FORMATS, format)) {
    const names = Object.keys(EXPORT_FORMATS).join(', ');
    throw fail('INVALID_PAYLOAD', `"format" must be one of ${names}.`, { path: ['format'] });
  }
  if (file !== undefined && file !== null && !isObject(file))
    throw fail('INVALID_PAYLOAD', '"file" must be an object.', { path: ['file'] });
  return { query, format: format as ExportFormatName, ...(file ? { file } : {}) };
}

/**
 * The query that is exported: without a limit all rows, and without members that shape another answer.
 * @throws INVALID_QUERY for a limit that is neither -1 nor a whole number of at least 0
 */
export function toExportQuery({ limit, meta: _meta, export: _export, ...query }: RawQuery): RawQuery {
  if (limit === undefined || limit === null) return query;
  if (!Number.isSafeInteger(limit) || (limit as number) < -1)
    throw fail('INVALID_QUERY', 'limit must be -1 or a whole number of at least 0.', { path: ['query', 'limit'] });
  return { ...query, limit };
}
