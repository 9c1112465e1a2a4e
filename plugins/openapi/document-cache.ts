import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { AccessControl, PermissionSet } from '../access/contract.ts';
import type { DescribedMount, DescribedRoute, RoutingService } from '../http/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import { buildDocument } from './document/build-document.ts';
import { buildVisibleSchema } from './document/visible-schema.ts';

/** A document as JSON, ready to send. Bytes are shared by all responses that clients read slowly. */
export interface RenderedDocument {
  /** The entity tag, which changes with the content. */
  readonly tag: string;
  readonly json: Buffer;
  readonly gzip: Buffer;
}

export interface DocumentCache {
  /** The document of a caller, from memory where no table, permission, route or extension has changed since it was built. */
  get(caller: Caller): Promise<RenderedDocument>;
}

interface Deps {
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly access: Pick<AccessControl, 'permissions' | 'permittedFields'>;
  readonly routing: Pick<RoutingService, 'describeRoutes' | 'describeMounts'>;
  readonly server: string;
  readonly cookie: string;
}

/** What a document is built of. */
interface Source {
  readonly snapshot: string;
  readonly routes: readonly DescribedRoute[];
  readonly mounts: readonly DescribedMount[];
}

interface CachedDocument {
  readonly source: Source;
  readonly rendered: RenderedDocument;
}

/** Bytes of all documents. That of 300 tables has three million. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DOCUMENTS = 200;

/**
 * Documents by permissions. Each is built once for all callers that wait for it, and one at a time, so that no number of requests keeps
 * the process from others.
 */
export function createDocumentCache({ schema, access, routing, server, cookie }: Deps): DocumentCache {
  const cache = new LRUCache<string, CachedDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_BYTES,
    // A document over the limit is still cached, alone.
    sizeCalculation: ({ rendered: { json, gzip: packed } }) => Math.min(MAX_BYTES, json.length + packed.length),
  });
  const running = new Map<string, Promise<CachedDocument>>();
  let last: Promise<unknown> = Promise.resolve();

  async function build(set: PermissionSet, source: Source): Promise<CachedDocument> {
    const snapshot = await schema.snapshot();
    await nextTurn();
    const visible = buildVisibleSchema(snapshot, set, access.permittedFields);
    const document = await buildDocument({ ...source, visible, server, cookie });
    const json = Buffer.from(JSON.stringify(document));
    const packed = await promisify(gzip)(json);
    const rendered = { tag: `W/"${document.info.version}"`, json, gzip: packed };
    return { source: { ...source, snapshot: snapshot.version }, rendered };
  }

  async function buildAlone(key: string, set: PermissionSet, source: Source): Promise<CachedDocument> {
    const building = last.then(() => build(set, source));
    last = building.catch(() => undefined);
    running.set(key, building);
    try {
      const built = await building;
      cache.set(key, built);
      return built;
    } finally {
      running.delete(key);
    }
  }

  async function get(caller: Caller): Promise<RenderedDocument> {
    const [snapshot, set] = [await schema.snapshot(), await access.permissions(caller)];
    const key = keyOf(set);
    const source = { snapshot: snapshot.version, routes: routing.describeRoutes(), mounts: routing.describeMounts() };
    const cached = cache.get(key);
    if (cached && isSameSource(cached.source, source)) return cached.rendered;
    const waiting = running.get(key);
    if (!waiting) return (await buildAlone(key, set, source)).rendered;
    const built = await waiting;
    // The document may have been begun before a change that this caller has seen.
    return isSameSource(built.source, source) ? built.rendered : get(caller);
  }

  return { get };
}

/** Callers with equal permissions have one document. All shares of a role and collection read the same fields. */
const keyOf = ({ fieldsKey, version, digest }: PermissionSet): string =>
  fieldsKey === undefined ? digest : `${version} ${fieldsKey}`;

const isSameSource = (left: Source, right: Source): boolean =>
  left.snapshot === right.snapshot && left.routes === right.routes && left.mounts === right.mounts;
