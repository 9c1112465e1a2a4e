import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** The expected state of a row at the end. */
export interface ExpectedRow {
  /** False where the creation of the row was not acknowledged: it may exist or not. */
  readonly isSure: boolean;
  /** Possible values of `n`: the last acknowledged one, and later ones without an answer. */
  readonly values: Set<number>;
  readonly batch: string | null;
}

export type ExpectedRows = ReadonlyMap<string, ExpectedRow>;

const BATCH = 20;
/** Milliseconds of pause after a request without an answer, or with an error. */
const RETRY_MS = 50;
const MAX_SHOWN = 400;
/** The service cannot serve now, and the client may retry. */
const UNAVAILABLE = 503;

/** Clients that write until `stop`: single rows, batches and updates, and one client that adds and removes fields. */
export function startFaultTestWriters(options: { token: string; count: number; getAddress(at: number): string }) {
  const record = new Map<string, ExpectedRow>();
  const endings = new Map<string, number>();
  const unexpected: string[] = [];
  let acknowledged = 0;
  let schemaChanges = 0;
  let isOver = false;

  /** Sends a request. True where the write was acknowledged, undefined where it was refused or its outcome is unknown. */
  const send = async (at: number, method: string, path: string, body?: unknown): Promise<boolean | undefined> => {
    let status: number;
    let text: string;
    try {
      const reply = await fetch(new URL(path, options.getAddress(at)), {
        method,
        headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      status = reply.status;
      text = await reply.text();
    } catch {
      endings.set('no answer', (endings.get('no answer') ?? 0) + 1);
      await pause(RETRY_MS);
      return undefined;
    }
    const code = status < 300 ? '' : ` ${/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ''}`;
    endings.set(`${status}${code}`, (endings.get(`${status}${code}`) ?? 0) + 1);
    if (status < 300) {
      acknowledged++;
      return true;
    }
    if (status !== UNAVAILABLE) unexpected.push(`${method} ${path}: ${status} ${text.slice(0, MAX_SHOWN)}`);
    await pause(RETRY_MS);
    // Where a connection broke at commit, the outcome is unknown.
    return undefined;
  };

  const create = async (at: number): Promise<string> => {
    const id = randomUUID();
    record.set(id, { isSure: false, values: new Set([0]), batch: null });
    if (await send(at, 'POST', '/items/thing', { id, n: 0 }))
      record.set(id, { isSure: true, values: new Set([0]), batch: null });
    return id;
  };
  const change = async (at: number, id: string, n: number): Promise<void> => {
    const known = record.get(id);
    if (!known?.isSure) return;
    known.values.add(n);
    if (await send(at, 'PATCH', `/items/thing/${id}`, { n })) record.set(id, { ...known, values: new Set([n]) });
  };
  const createBatch = async (at: number): Promise<void> => {
    const batch = randomUUID();
    const ids = Array.from({ length: BATCH }, () => randomUUID());
    const expect = (isSure: boolean) => {
      for (const id of ids) record.set(id, { isSure, values: new Set([1]), batch });
    };
    expect(false);
    if (
      await send(
        at,
        'POST',
        '/items/thing',
        ids.map((id) => ({ id, n: 1, batch })),
      )
    )
      expect(true);
  };

  const writer = async (at: number) => {
    while (!isOver) {
      const id = await create(at);
      await change(at, id, 1);
      await change(at, id, 2);
      if (Math.random() < 0.2) await createBatch(at);
    }
  };
  /**
   * Adds and removes fields, alternating between both processes, so that each must notice the changes of the other. A field whose
   * outcome is unknown is tried again.
   */
  const designer = async () => {
    for (let turn = 0; !isOver; turn++) {
      const field = `extra_${turn}`;
      let added: boolean | undefined;
      while (!isOver && !added) added = await attempt(turn, 'POST', '/fields/thing', { field, type: 'string' }, field);
      let removed: boolean | undefined;
      while (!isOver && !removed)
        removed = await attempt(turn + 1, 'DELETE', `/fields/thing/${field}`, undefined, field);
      await pause(100);
    }
  };
  const attempt = async (at: number, method: string, path: string, body: unknown, field: string) => {
    const before = unexpected.length;
    const done = await send(at, method, path, body);
    if (done) schemaChanges++;
    // The earlier attempt was executed, and only its answer was lost.
    const last = unexpected.at(-1) ?? '';
    const wasDone = unexpected.length > before && last.includes(field) && /: (400|403|404) /.test(last);
    if (wasDone) unexpected.pop();
    return done || wasDone;
  };

  const working = Promise.all([...Array.from({ length: options.count }, (_, at) => writer(at)), designer()]);
  return {
    record: record as ExpectedRows,
    endings: () => endings,
    unexpected: () => unexpected,
    acknowledged: () => acknowledged,
    schemaChanges: () => schemaChanges,
    async stop(): Promise<void> {
      isOver = true;
      await working;
    },
  };
}
