import { type Caller, fail } from '#kernel';
import type { HttpContext, Route, RoutingService } from '../http/contract.ts';
import { parsedQueryStringOf, sendData } from '../http/library.ts';
import { SNAPSHOT_PARTS, type SnapshotPartName } from './contract.ts';
import type { DiffMode } from './diff/diff-snapshots.ts';
import { isEmptyDiff, parseHashedDiff } from './diff/parse-diff.ts';
import { readDocument } from './read-document.ts';
import { APPLY_ROUTE_DESCRIPTION, DIFF_ROUTE_DESCRIPTION, SNAPSHOT_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import type { SchemaState } from './schema-state.ts';
import { parseSnapshot } from './snapshot/parse-snapshot.ts';
import { chooseCollections } from './snapshot/partial-snapshot.ts';
import { renderYaml } from './snapshot/render-document.ts';

interface Deps {
  readonly state: SchemaState;
  readonly routing: Pick<RoutingService, 'readBytes'>;
  /** Bytes of a document. */
  readonly maxBytes: number;
}

const SETTING = 'SCHEMA_SNAPSHOT_MAX_SIZE';

/** `/schema` (conventions, "Snapshot", "Diff and apply"), for admins. */
export function createSnapshotRoutes({ state, routing, maxBytes }: Deps): readonly Route[] {
  const read = (ctx: HttpContext) => readDocument(ctx, routing, { maxBytes, setting: SETTING });

  async function sendSnapshot(ctx: HttpContext): Promise<void> {
    const query = parsedQueryStringOf(ctx);
    const format = parseChoice(query, 'export', ['json', 'yaml'] as const);
    const include = parseNames(query.includeCollections, 'includeCollections');
    const exclude = parseNames(query.excludeCollections, 'excludeCollections');
    const parts = parseParts(query.with);
    const document = chooseCollections(await state.read(ctx.state.caller, parts), {
      ...(include ? { include } : {}),
      ...(exclude ? { exclude } : {}),
    });
    if (format === undefined) return sendData(ctx, document);
    ctx.status = 200;
    ctx.attachment(`snapshot.${format}`);
    ctx.type = format === 'yaml' ? 'text/yaml; charset=utf-8' : 'application/json; charset=utf-8';
    ctx.body = format === 'yaml' ? await renderYaml(document) : JSON.stringify(document);
  }

  async function sendDiff(ctx: HttpContext): Promise<void> {
    const query = parsedQueryStringOf(ctx);
    const mode: DiffMode = parseChoice(query, 'mode', ['mirror', 'merge'] as const) ?? 'mirror';
    const force = parseFlag(query, 'force');
    const target = parseSnapshot(await read(ctx), { force });
    sendData(ctx, await state.diff(ctx.state.caller, target, { mode }));
  }

  async function apply(ctx: HttpContext): Promise<void> {
    const force = parseFlag(parsedQueryStringOf(ctx), 'force');
    const diff = parseHashedDiff(await read(ctx));
    if (!isEmptyDiff(diff)) await state.apply(ctx.state.caller, diff, { force });
    sendData(ctx, undefined);
  }

  return [
    {
      method: 'GET',
      path: '/schema/snapshot',
      description: SNAPSHOT_ROUTE_DESCRIPTION,
      handle: forAdmins(sendSnapshot),
    },
    {
      method: 'POST',
      path: '/schema/diff',
      body: 'unread',
      description: DIFF_ROUTE_DESCRIPTION,
      handle: forAdmins(sendDiff),
    },
    {
      method: 'POST',
      path: '/schema/apply',
      body: 'unread',
      description: APPLY_ROUTE_DESCRIPTION,
      handle: forAdmins(apply),
    },
  ];
}

function assertAdmin(caller: Caller): void {
  if (!caller.admin) throw fail('FORBIDDEN', 'snapshots of the schema are for admins only');
}

/** Refuses other callers before the body is read. */
const forAdmins =
  (handle: (ctx: HttpContext) => Promise<void>): Route['handle'] =>
  (ctx) => {
    assertAdmin(ctx.state.caller);
    return handle(ctx);
  };

type Query = Readonly<Record<string, unknown>>;

function parseChoice<T extends string>(query: Query, name: string, choices: readonly T[]): T | undefined {
  const value = query[name];
  if (value === undefined || choices.includes(value as T)) return value as T | undefined;
  throw fail('INVALID_QUERY', `"${name}" must be one of ${choices.join(', ')}.`, { parameter: name });
}

/** A flag: `?force`, `?force=true`, `?force=1`. */
function parseFlag(query: Query, name: string): boolean {
  const value = query[name];
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === '' || value === 'true' || value === '1') return true;
  throw fail('INVALID_QUERY', `"${name}" must be true or false.`, { parameter: name });
}

/** Names with commas between them, or a list; undefined without the parameter. */
function parseNames(value: unknown, name: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(list) || list.some((one) => typeof one !== 'string'))
    throw fail('INVALID_QUERY', `"${name}" must be a list of names.`, { parameter: name });
  return list.map((one: string) => one.trim()).filter((one) => one !== '');
}

function parseParts(value: unknown): readonly SnapshotPartName[] {
  const names = parseNames(value, 'with') ?? [];
  const unknown = names.find((name) => !(SNAPSHOT_PARTS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw fail('INVALID_QUERY', `"with" names no part "${unknown}": there are ${SNAPSHOT_PARTS.join(', ')}.`, {
      parameter: 'with',
    });
  return names as readonly SnapshotPartName[];
}
