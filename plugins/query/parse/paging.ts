import type { Ceilings } from './scope.ts';
import { invalid, type Path, parameterAt } from './shape.ts';

interface RawPaging {
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly page?: unknown;
}

/** Limit, offset and page (conventions, 5): -1 means as many as the ceiling permits; above the ceiling is refused. */
export function parsePaging(
  raw: RawPaging,
  ceilings: Ceilings,
  path: Path,
  unlimited: boolean,
): { limit: number | null; offset: number } {
  const asked = integer(raw.limit, -1, parameterAt(path, 'limit'));
  // Page 0 is no page (conventions, 4.1).
  const page = integer(raw.page, 0, parameterAt(path, 'page')) || undefined;
  const offset = integer(raw.offset, 0, parameterAt(path, 'offset')) ?? 0;
  const limit = limitOf(asked, ceilings, parameterAt(path, 'limit'), unlimited);
  // A page of everything is everything.
  if (page === undefined || limit === null || asked === -1) return { limit, offset: page === undefined ? offset : 0 };
  const skipped = limit * (page - 1);
  if (!Number.isSafeInteger(skipped))
    throw invalid(
      `begins at row ${skipped}, more than the ${Number.MAX_SAFE_INTEGER} allowed`,
      parameterAt(path, 'page'),
    );
  return { limit, offset: skipped };
}

function limitOf(
  asked: number | undefined,
  { limitDefault, limitMax }: Ceilings,
  path: Path,
  unlimited: boolean,
): number | null {
  if (unlimited) return asked === undefined || asked === -1 ? null : asked;
  if (limitMax !== -1 && asked !== undefined && asked > limitMax)
    throw invalid(`is ${asked}, more than the ${limitMax} allowed`, path);
  if (asked === -1) return limitMax === -1 ? null : limitMax;
  return asked ?? (limitMax === -1 ? limitDefault : Math.min(limitDefault, limitMax));
}

function integer(raw: unknown, minimum: number, path: Path): number | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const value =
    typeof raw === 'number' ? raw : typeof raw === 'string' && /^[+-]?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < minimum)
    throw invalid(`${shown(raw)} is no whole number of at least ${minimum}`, path);
  return value;
}

/** Of an object without a prototype, as parameters come, there is no text. */
const shown = (raw: unknown): string =>
  typeof raw === 'object' ? 'an object or a list' : `"${String(raw).slice(0, 40)}"`;
